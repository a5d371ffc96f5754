"""The stages in their order; each turns records into records and commits as it goes."""
