"""Keep the vectors of public texts between runs: embedding SciFact once is half an hour of work."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    import numpy as np

    from muniment.adapters.ports import Embedder


class CachedEmbedder:
    """An embedder that asks the model only for what it has not embedded before."""

    def __init__(self, embedder: "Embedder", path: Path) -> None:
        self.producer = embedder.producer
        self.dimensions = embedder.dimensions
        self._embedder = embedder
        self._model = f"{self.producer.model}/{self.producer.version}/{self.producer.params_hash}"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = apsw.Connection(str(path))
        self._database.set_busy_timeout(60_000)
        self._database.execute(
            "CREATE TABLE IF NOT EXISTS vector (key BLOB PRIMARY KEY, row BLOB) WITHOUT ROWID"
        )

    def passages(self, texts: Sequence[str]) -> "np.ndarray":
        """Return float32 unit rows, one a text."""
        import numpy as np

        keys = [self._key("passage", text) for text in texts]
        known = {key: self._get(key) for key in keys}
        missing = [place for place, key in enumerate(keys) if known[key] is None]
        if missing:
            rows = self._embedder.passages([texts[place] for place in missing])
            for place, row in zip(missing, rows, strict=True):
                known[keys[place]] = self._put(keys[place], row)
        return np.stack([np.frombuffer(known[key] or b"", dtype=np.float32) for key in keys])

    def query(self, text: str) -> "np.ndarray":
        """Return one float32 unit vector."""
        import numpy as np

        key = self._key("query", text)
        known = self._get(key) or self._put(key, self._embedder.query(text))
        return np.frombuffer(known, dtype=np.float32)

    def _key(self, kind: str, text: str) -> bytes:
        return sha256(f"{self._model}\n{kind}\n{text}".encode("utf-8", "replace")).digest()

    def _get(self, key: bytes) -> bytes | None:
        row = self._database.execute("SELECT row FROM vector WHERE key = ?", (key,)).fetchone()
        return None if row is None else bytes(row[0])

    def _put(self, key: bytes, row: "np.ndarray") -> bytes:
        data = row.astype("float32").tobytes()
        self._database.execute("INSERT OR REPLACE INTO vector VALUES (?, ?)", (key, data))
        return data
