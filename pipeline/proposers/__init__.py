"""Proposers: what turns passages of observations into candidates for memory."""
