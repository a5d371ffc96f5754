"""Readers of pictures, sound, film and PDF, and what they share."""
