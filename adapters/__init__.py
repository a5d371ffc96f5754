"""The outside world: one program, format or model a file, each behind a protocol of ``ports``."""
