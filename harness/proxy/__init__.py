"""A reverse proxy in front of the recording, for clients that are not Python's httpx."""
