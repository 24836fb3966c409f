"""Statistics over plain numbers; what is undefined is None with its reason."""
