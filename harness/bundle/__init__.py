"""A study as one file that can be sent, kept and checked: archive, papers, key search."""
