"""What is kept: record types, the ledger, assets, the index, locks. Nobody else opens a root's files."""
