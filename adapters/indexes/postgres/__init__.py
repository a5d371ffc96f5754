"""The index on PostgreSQL with pgvector: the server finds, we analyse."""
