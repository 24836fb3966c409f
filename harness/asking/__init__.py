"""Ask models and sources over a transport that is handed in, and read what they reply."""
