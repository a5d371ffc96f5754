"""Put pictures and clips into a page: small, encoded anew, and never more than a page can hold."""

import base64
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters import looking
from muniment.adapters.ports import Limits
from muniment.pipeline.extraction import source_of
from muniment.pipeline.view.exhibits import Exhibit
from muniment.pipeline.view.figures import Missing, Pictured, Played
from muniment.pipeline.view.markup import Markup, tag
from muniment.store.errors import MunimentError

if TYPE_CHECKING:
    from muniment.adapters.ports import Source
    from muniment.store.ledger import Ledger

LONGEST_SIDE = 1_400
MOST_CLIP_BYTES = 4 * 1024**2
MOST_BYTES = 32 * 1024**2
# Longer than this, a clip is over the cap in any case, and encoding it takes a while.
MOST_CLIP_MS = 5 * 60_000


class Embedded:
    """Media of one page as data URIs; a picture that several claims cite is held once."""

    def __init__(self, ledger: "Ledger", scratch: Path) -> None:
        self._ledger = ledger
        self._scratch = scratch
        self._limits = Limits()
        self._left = MOST_BYTES
        self._sources: dict[str, Source] = {}
        self._pictures: dict[tuple[Any, ...], Pictured | Missing] = {}
        self._data: dict[str, str] = {}

    def picture(self, exhibit: Exhibit) -> Pictured | Missing:
        """Return the symbol of the picture, made at its first use."""
        key = exhibit.picture_key
        if key not in self._pictures:
            self._pictures[key] = self._made_picture(exhibit)
        return self._pictures[key]

    def player(self, exhibit: Exhibit) -> Played | Missing:
        """Return the cited span alone, where it is small enough."""
        start, end = exhibit.locator["start_ms"], exhibit.locator["end_ms"]
        if end - start > MOST_CLIP_MS:
            return Missing("too_large")
        target = self._scratch / "clip.mp4"
        try:
            source = self._source(exhibit.asset)
            media_type = looking.playable_clip(source, start, end, self._limits, target)
            if target.stat().st_size > min(MOST_CLIP_BYTES, self._left):
                return Missing("too_large")
            return Played(self._uri(target.read_bytes(), media_type), media_type)
        except MunimentError as error:
            return Missing(error.message)
        finally:
            target.unlink(missing_ok=True)

    def link(self, exhibit: Exhibit) -> str | None:
        """Lead nowhere: the page stands alone."""
        return None

    def symbols(self) -> Markup:
        """Return the pictures that the figures refer to, for the start of the page."""
        kept = [
            tag("symbol", {"id": found.symbol, "viewBox": f"0 0 {found.width} {found.height}"},
                tag("image", {"href": self._data[found.symbol], "width": found.width,
                              "height": found.height}))
            for found in self._pictures.values()
            if isinstance(found, Pictured)
        ]  # fmt: skip
        return tag("svg", {"class": "defs", "aria-hidden": "true"}, kept) if kept else Markup("")

    def _made_picture(self, exhibit: Exhibit) -> Pictured | Missing:
        try:
            made = looking.small_picture(
                self._source(exhibit.asset), exhibit.locator, self._limits, LONGEST_SIDE
            )
        except MunimentError as error:
            return Missing(error.message)
        if len(made.data) > self._left:
            return Missing("too_large")
        symbol = f"picture-{len(self._data) + 1}"
        self._data[symbol] = self._uri(made.data, made.media_type)
        return Pictured(symbol=symbol, width=made.width, height=made.height)

    def _source(self, asset: str) -> "Source":
        if asset not in self._sources:
            self._sources[asset] = source_of(self._ledger, asset, self._scratch)
        return self._sources[asset]

    def _uri(self, data: bytes, media_type: str) -> str:
        self._left -= len(data)
        return f"data:{media_type};base64,{base64.b64encode(data).decode('ascii')}"


@contextmanager
def embedding(ledger: "Ledger") -> Iterator[Embedded]:
    """Open what puts media into a page; its scratch files are private and go at the end."""
    with tempfile.TemporaryDirectory(prefix="muniment-") as scratch:
        yield Embedded(ledger, Path(scratch))
