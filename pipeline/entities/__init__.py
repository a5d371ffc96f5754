"""Who and what the evidence is about: names, identities, relations and topics (CONTRACT 4.4)."""
