"""A study: its folder, its file, and the texts that people bring."""
