"""Resident processes: a store kept warm, and the ways to ask it (CONTRACT 6, ``serve``)."""
