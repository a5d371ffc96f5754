"""What kept bytes are, from their first and last kilobytes; the name is only a hint."""

from muniment.adapters.formats.sniff import TAIL_BYTES, Sniffed, sniff
from muniment.store.assets import Taken
from muniment.store.ledger import Ledger


def type_of(ledger: Ledger, taken: Taken, name: str) -> Sniffed:
    """Sniff bytes that are kept already."""
    if taken.data is not None:
        return sniff(taken.data, taken.data[-TAIL_BYTES:], taken.size, name)
    with ledger.assets.file(taken.asset).open("rb") as stream:
        stream.seek(max(0, taken.size - TAIL_BYTES))
        return sniff(taken.head, stream.read(TAIL_BYTES), taken.size, name)
