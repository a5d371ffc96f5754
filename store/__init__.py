"""What is kept: record types, the ledger, assets, the index, locks."""
