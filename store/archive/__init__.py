"""The portable archive of one scope: everything that its ledger holds, as lines of JSON.

::

    {"type": "header", "format": "muniment.archive", "version": 1, "schema": 1, "scope": {...}, ...}
    {"type": "row", "table": "asset", "row": {"seq": 1, "id": "sha256:...", ...}}
    {"type": "bytes", "asset": "sha256:...", "offset": 0, "base64": "..."}
    {"type": "end", "rows": {"asset": 1, ...}, "digests": {...}, "originals": {...}, ...}

Tables follow one another so that what a row names comes before it, rows in the order they were
written. A column that points at a row of another table holds that row's own id (an asset's
SHA-256, an observation's id, a producer's fingerprint) where it has one. Bytes are
``{"utf8": "..."}``, or ``{"base64": "..."}`` where they are not text.

Bytes up to 64 KiB are rows of the ledger and always there. Larger originals come with
``--with-originals``, in pieces of 768 KiB in the same file, so that an archive stays one stream.
The list of what must not come back after a hard forget is kept under a key of each store and stays
behind; the tombstones come along.

The last line counts and digests all lines before it: its own ``sha256`` is over all of them.
"""

FORMAT = "muniment.archive"
VERSION = 1
PIECE_BYTES = 768 * 1024
