"""A study's data for other programs."""
