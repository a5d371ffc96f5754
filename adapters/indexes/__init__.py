"""Search indexes on database servers, behind the same protocol as the one beside the ledger."""
