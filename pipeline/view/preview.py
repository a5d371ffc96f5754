"""``show`` on a terminal: a small picture of what is cited, above what is told of it."""

import io
import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.pipeline.view.cache import ViewCache
from muniment.pipeline.view.drawing import TRUE_COLOUR, Box, Way, draw, way_of
from muniment.store.errors import MunimentError

if TYPE_CHECKING:
    from PIL import Image

    from muniment.adapters.ports import Source
    from muniment.pipeline.refs import Ref
    from muniment.pipeline.workspace import Workspace
    from muniment.store.ledger import Ledger

MOST_COLUMNS, MOST_ROWS = 60, 20
_LONGEST = 800
_CORNERS = ("x", "y", "w", "h")
_PICTURED = ("image/", "video/", "application/pdf")


def preview(ledger: "Ledger", ref: "Ref", workspace: "Workspace") -> str:
    """Return the drawing for this terminal; nothing where it can't draw or there is no picture."""
    way = way_of(os.environ)
    if way is None or ref.kind not in {"asset", "observation"}:
        return ""
    asset, locator = _placed(ledger, ref)
    try:
        picture = None if asset is None else _picture(ledger, asset, locator, workspace)
    except MunimentError:  # what is told of it below says what is wrong with it
        return ""
    return "" if picture is None else _drawn(picture, way, _box(locator))


def _drawn(picture: "Image.Image", way: Way, box: Box | None) -> str:
    size = shutil.get_terminal_size()
    deep = os.environ.get("COLORTERM") in TRUE_COLOUR
    return draw(picture, way, min(size.columns - 1, MOST_COLUMNS),
                min(size.lines // 2, MOST_ROWS), box=box, deep=deep)  # fmt: skip


def _picture(
    ledger: "Ledger", asset: str, locator: Mapping[str, Any], workspace: "Workspace"
) -> "Image.Image | None":
    from PIL import Image

    from muniment.pipeline.extraction import source_of

    cache = ViewCache(workspace)
    cache.prepare()
    with tempfile.TemporaryDirectory(dir=cache.folder, prefix=".making-") as scratch:
        source = source_of(ledger, asset, Path(scratch))
        if not source.media_type.startswith(_PICTURED):
            return None
        return Image.open(io.BytesIO(_looked_at(source, locator)))


def _placed(ledger: "Ledger", ref: "Ref") -> tuple[str | None, Mapping[str, Any]]:
    if ref.kind == "asset":
        return ref.id, {}
    row = ledger.evidence.get(ref.id)
    return (None, {}) if row is None else (row.asset, row.locator)


def _looked_at(source: "Source", locator: Mapping[str, Any]) -> bytes:
    from muniment.adapters import looking
    from muniment.adapters.ports import Limits

    if locator.get("type") == "time":
        locator = {"type": "frame", "at_ms": locator["start_ms"]}
    if locator.get("type") in {"bbox", "page", "frame"}:
        return looking.small_picture(source, locator, Limits(), _LONGEST).data
    return looking.cover(source, Limits(), _LONGEST).data


def _box(locator: Mapping[str, Any]) -> Box | None:
    box = locator if locator.get("type") == "bbox" else locator.get("bbox")
    if box is None or any(box.get(side) is None for side in _CORNERS):
        return None
    x, y, w, h = (float(box[side]) for side in _CORNERS)
    return x, y, x + w, y + h
