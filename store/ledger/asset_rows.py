"""What is read of an asset in one row: its newest type, and where it was first seen."""

from typing import Any

from muniment.store.rows import AssetRow, name_in

# The first sighting of the nearest asset above a derivation ``d`` that was seen by itself.
SEEN_ABOVE = """(
  WITH RECURSIVE above(asset, depth) AS (
    SELECT d.parent, 0
    UNION ALL
    SELECT (SELECT parent FROM derivation WHERE asset = above.asset ORDER BY seq LIMIT 1),
      depth + 1
    FROM above
    WHERE depth < 64 AND NOT EXISTS (SELECT 1 FROM sighting WHERE asset = above.asset)
      AND EXISTS (SELECT 1 FROM derivation WHERE asset = above.asset)
  )
  SELECT x.seq FROM above JOIN sighting x ON x.asset = above.asset ORDER BY depth, x.seq LIMIT 1)
"""
# What an AssetRow is read from; ``asset_now`` is ``a``. What nobody saw by itself has the name
# that it was derived under, and what else there is from the first of those above it that was seen.
ASSET_ROWS = f"""
SELECT a.seq, a.id, a.size, a.storage, a.media_type, a.family, a.derived,
  coalesce(s.path, CAST(nullif(d.name, '') AS BLOB), p.path, x''),
  coalesce(s.origin, p.origin, 'external'), coalesce(s.source, p.source, '')
FROM asset_now a
LEFT JOIN sighting s ON s.seq = (SELECT min(seq) FROM sighting WHERE asset = a.seq)
LEFT JOIN derivation d
  ON s.seq IS NULL AND d.seq = (SELECT min(seq) FROM derivation WHERE asset = a.seq)
LEFT JOIN sighting p ON d.seq IS NOT NULL AND p.seq = {SEEN_ABOVE}
"""
# Up the first derivation of each until an asset that was seen by itself; some contain themselves.
DEPTH = """
WITH RECURSIVE up(asset, depth) AS (
  SELECT ?, 0
  UNION ALL
  SELECT (SELECT parent FROM derivation WHERE asset = up.asset ORDER BY seq LIMIT 1), depth + 1
  FROM up
  WHERE depth < 64 AND NOT EXISTS (SELECT 1 FROM sighting WHERE asset = up.asset)
    AND EXISTS (SELECT 1 FROM derivation WHERE asset = up.asset)
)
SELECT max(depth) FROM up
"""


def asset_row(row: tuple[Any, ...]) -> AssetRow:
    """Name the columns of :data:`ASSET_ROWS`."""
    number, asset, size, storage, media_type, family, derived, path, origin, source = row
    name = name_in(bytes(path))
    return AssetRow(
        number, asset, size, storage, media_type, family, bool(derived), name, origin, source
    )
