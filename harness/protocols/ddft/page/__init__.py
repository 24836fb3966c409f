"""What DDFT brings to a study's page."""
