"""Engines besides local files and SQLite, behind the protocols of :mod:`muniment.store.ports`."""
