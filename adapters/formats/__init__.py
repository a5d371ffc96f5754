"""Text-like formats: what a file is, how it is encoded, and readers for notes, chats, cues."""
