"""Text to search tokens: one analyser, used on what is stored and on what is asked."""
