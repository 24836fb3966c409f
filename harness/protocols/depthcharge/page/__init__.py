"""What DepthCharge brings to a study's page."""
