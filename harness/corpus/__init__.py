"""The embedded corpus: its entries, an index over them, and a server of them on loopback."""
