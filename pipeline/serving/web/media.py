"""Pictures, sound and files over HTTP: by range, under safe types, small ones made once."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, Response

from muniment.adapters import looking
from muniment.adapters.ports import Limits, Source
from muniment.pipeline.extraction import source_of
from muniment.pipeline.serving.web.ranges import ranged
from muniment.pipeline.view.cache import ViewCache
from muniment.store.errors import NotFoundError
from muniment.store.ids import digest

if TYPE_CHECKING:
    from muniment.pipeline.serving.warm import Warm
    from muniment.store.ledger import Ledger
    from muniment.store.rows import ObservationRow

# What a browser shows without running any of it. Everything else is handed over as a file.
INLINE = {
    "image/jpeg", "image/png", "image/gif", "image/webp", "image/bmp", "image/avif",
    "audio/mpeg", "audio/ogg", "audio/opus", "audio/wav", "audio/x-wav", "audio/flac",
    "audio/mp4", "audio/aac", "audio/webm", "video/mp4", "video/webm", "video/ogg",
}  # fmt: skip
_POLICY = "sandbox; default-src 'none'"
_THUMB, _PICTURE = 320, 1_600
_MAKERS = 2


class Gallery:
    """The media of one scope; at most two things are made at a time, what is made is kept."""

    def __init__(self, warm: "Warm") -> None:
        self._warm = warm
        self._cache = ViewCache(warm.workspace)
        self._limits = Limits()
        self._makers = threading.BoundedSemaphore(_MAKERS)
        self._checked: dict[str, tuple[int, int]] = {}

    def whole(self, asset: str, range_header: str | None) -> Response:
        """Hand over an asset's bytes: played or shown where that is safe, else as a file."""
        with self._warm.reading(semantic=False) as opened:
            source = self._source(opened.ledger, asset, Path())
        safe = source.media_type in INLINE
        kind = source.media_type if safe else "application/octet-stream"
        headers = {"content-security-policy": _POLICY}
        if source.path is None:
            placed = "inline" if safe else "attachment"
            headers["content-disposition"] = f'{placed}; filename="{_file_name(asset)}"'
            return ranged(source.data or b"", kind, headers, range_header)
        return FileResponse(
            source.path, media_type=kind, headers=headers, filename=_file_name(asset),
            content_disposition_type="inline" if safe else "attachment",
        )  # fmt: skip

    def thumbnail(self, asset: str) -> Response:
        """Return an asset's small picture. Raises ``InputError`` for what has none."""

        def write(source: Source, target: Path) -> None:
            target.write_bytes(looking.cover(source, self._limits, _THUMB).data)

        return self._made("thumb", asset, "image/jpeg", write)

    def wave(self, asset: str) -> Response:
        """Return the loudness of a recording, drawn."""

        def write(source: Source, target: Path) -> None:
            target.write_bytes(looking.waveform(source, self._limits).data)

        return self._made("wave", asset, "image/png", write)

    def look(self, asset: str) -> Response:
        """Return an asset's picture, or its first page, as large as a page shows it."""

        def write(source: Source, target: Path) -> None:
            target.write_bytes(looking.cover(source, self._limits, _PICTURE).data)

        return self._made("look", asset, "image/jpeg", write)

    def picture(self, observation: str) -> Response:
        """Return the picture, page or frame that an observation's box lies in."""
        row = self._row(observation)
        place = tuple(row.locator.get(part) for part in ("type", "page", "at_ms"))

        def write(source: Source, target: Path) -> None:
            made = looking.small_picture(source, row.locator, self._limits, _PICTURE)
            target.write_bytes(made.data)

        path = self._path(digest("picture", row.asset, *place), row.asset, write)
        return FileResponse(
            path, media_type="image/jpeg", headers={"content-security-policy": _POLICY}
        )

    def clip(self, observation: str) -> Response:
        """Return the span that an observation cites, as something that any browser plays."""
        row = self._row(observation)
        if row.locator["type"] != "time":
            raise NotFoundError("this is no span of time")
        start, end = row.locator["start_ms"], row.locator["end_ms"]

        def write(source: Source, target: Path) -> None:
            looking.playable_clip(source, start, end, self._limits, target)

        path = self._path(digest("clip", row.asset, start, end), row.asset, write)
        # The container is the same with pictures and without.
        return FileResponse(
            path, media_type="video/mp4", headers={"content-security-policy": _POLICY}
        )

    def _made(
        self, kind: str, asset: str, media_type: str, write: Callable[[Source, Path], None]
    ) -> Response:
        path = self._path(digest(kind, asset), asset, write)
        return FileResponse(
            path, media_type=media_type, headers={"content-security-policy": _POLICY}
        )

    def _path(self, name: str, asset: str, write: Callable[[Source, Path], None]) -> Path:
        """Return what was made, or make it; what has been forgotten meanwhile is not shown."""
        found = self._cache.get(name)
        if found is not None:
            with self._warm.reading(semantic=False) as opened:
                if opened.ledger.assets.row(asset) is None:
                    raise NotFoundError(f"no asset {asset} in this scope")
            return found
        # The root is held as it is for reading, so that a hard forget finds all that was made.
        with self._makers, self._warm.reading(semantic=False) as opened:
            ledger = opened.ledger

            def made(target: Path) -> None:
                write(self._source(ledger, asset, target.parent), target)

            return self._cache.make(name, made)

    def _source(self, ledger: "Ledger", asset: str, scratch: Path) -> Source:
        """Return an asset, its bytes checked once for as long as its file is not touched."""
        row = ledger.assets.row(asset)
        if row is None:
            raise NotFoundError(f"no asset {asset} in this scope")
        if row.storage == "inline":
            return source_of(ledger, asset, scratch)
        stat = ledger.assets.file(asset).stat()
        if self._checked.get(asset) != (stat.st_mtime_ns, stat.st_size):
            source = source_of(ledger, asset, scratch)
            self._checked[asset] = (stat.st_mtime_ns, stat.st_size)
            return source
        return Source(
            asset=asset, size=row.size, media_type=row.media_type, family=row.family,
            name=row.name, scratch=scratch, path=ledger.assets.store.lend(asset, scratch),
        )  # fmt: skip

    def _row(self, observation: str) -> "ObservationRow":
        with self._warm.reading(semantic=False) as opened:
            row = opened.ledger.evidence.get(observation)
        if row is None:
            raise NotFoundError(f"no observation {observation} in this scope")
        return row


def plays(media_type: str) -> bool:
    """Tell whether a browser plays a whole recording as it is."""
    return media_type in INLINE and media_type.startswith(("audio/", "video/"))


def _file_name(asset: str) -> str:
    """Return a harmless name to save an asset under; its own may be anything."""
    return asset.removeprefix("sha256:")[:16]
