"""The protocols: what one is, which there are, and each in a room of its own."""
