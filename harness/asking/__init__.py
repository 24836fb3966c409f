"""Ask models over a transport that is handed in, and read what they say."""
