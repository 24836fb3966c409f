"""Tools for a jury: people beside it, another one, a pilot, a look for what must not exist."""
