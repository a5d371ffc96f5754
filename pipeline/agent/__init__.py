"""The agent layer: sessions, checkpoints, personas, turns, hosts (CONTRACT 7)."""
