"""Chat logs and exports: one module a format, the table of them, and the reader of all."""

from muniment.adapters.formats.chats.reader import ChatReader

__all__ = ["ChatReader"]
