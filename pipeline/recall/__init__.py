"""The query side: search, fuse, resolve, gate, select within a budget, pack."""
