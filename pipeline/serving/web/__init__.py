"""The evidence browser: pages of one scope on loopback, read-only but for the review."""
