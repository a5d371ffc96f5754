"""What a ledger holds, times and runs apart: equal for equal input, however it was reached."""

import hashlib
from typing import Any

from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger

# What differs between two honest runs: when, in which run, and in which order things were numbered.
_QUERIES = {
    "assets": "SELECT id, size, storage, derived FROM asset",
    "bytes": "SELECT a.id, b.bytes FROM asset_bytes b JOIN asset a ON a.seq = b.asset",
    "types": "SELECT a.id, t.media_type, t.family, t.sniffer FROM asset_type t "
    "JOIN asset a ON a.seq = t.asset",
    "sightings": "SELECT id, path, source, origin, size FROM sighting",
    "observations": "SELECT o.id, a.id, o.kind, o.text, o.locator, o.confidence, o.origin, o.role, "
    "o.language, o.author, o.thread, o.occurred, o.attributes FROM observation_live o "
    "JOIN asset a ON a.seq = o.asset",
    "statuses": "SELECT DISTINCT a.id, t.stage, t.reader, t.status, t.code FROM attempt t "
    "JOIN asset a ON a.seq = t.asset WHERE t.seq = (SELECT max(seq) FROM attempt "
    "WHERE asset = t.asset AND stage = t.stage AND reader = t.reader)",
    "times": "SELECT a.id, c.moment, c.source FROM capture_time c JOIN asset a ON a.seq = c.asset",
    "derivations": "SELECT DISTINCT a.id, p.id, d.relation, d.locator FROM derivation d "
    "JOIN asset a ON a.seq = d.asset JOIN asset p ON p.seq = d.parent",
    "episodes": 'SELECT id, anchor, kind, title, gist, start, "end", participants '
    "FROM episode_now WHERE status = 'open'",
    "members": "SELECT e.id, o.id FROM membership m JOIN episode e ON e.seq = m.episode "
    "JOIN observation o ON o.seq = m.observation",
    "candidates": "SELECT id, text, subject, key, value, status, reason FROM candidate_now",
    "records": "SELECT id, version, text, subject, key, value, status FROM record_now",
}


def contents_of(root: Root, scope: Scope) -> dict[str, list[Any]]:
    """Return the content of a scope's ledger and of its large assets, sorted."""
    ledger = Ledger.read(root, scope)
    try:
        found: dict[str, list[Any]] = {
            name: sorted(map(repr, ledger.database.execute(query)))
            for name, query in _QUERIES.items()
        }
        files = [row for row in ledger.assets.rows() if row.storage == "file"]
        found["files"] = sorted(
            hashlib.sha256(ledger.assets.file(row.id).read_bytes()).hexdigest() for row in files
        )
        return found
    finally:
        ledger.close()
