"""What a page is made from: what a protocol brings, and what a replay found; nothing is drawn."""
