"""``show --extract``: write what a citation names, so that it can be looked at or listened to."""

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters.extract import Cited, extract
from muniment.adapters.ports import Limits, Source
from muniment.pipeline.refs import Ref
from muniment.store.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from muniment.pipeline.workspace import Workspace
    from muniment.store.ledger import Ledger


# Names that ask for the words of a page, a chapter or a text track, and not for how it looks.
_TEXT_SUFFIXES = frozenset((".txt", ".md", ".text"))


def extract_to(ledger: "Ledger", ref: Ref, target: str, workspace: "Workspace") -> dict[str, Any]:
    """Write the part of the asset that an observation cites; an asset is written whole."""
    path = Path(target).absolute()
    if workspace.root.path in path.parents:
        raise UsageError("what is extracted goes outside the root", path=target)
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError("there is no such place for a file", path=target)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".muniment-") as scratch:
        made = Path(scratch) / "extracted"
        as_text = path.suffix.lower() in _TEXT_SUFFIXES
        media_type = _extract(ledger, ref, made, Path(scratch), as_text=as_text)
        os.replace(made, path)  # noqa: PTH105 (the name is the person's, as bytes)
    return {"file": str(path), "media_type": media_type, "bytes": path.stat().st_size}


def _extract(ledger: "Ledger", ref: Ref, made: Path, scratch: Path, *, as_text: bool) -> str:
    if ref.kind == "asset":
        source = source_of(ledger, ref.id, scratch)
        with source.open() as stream, made.open("wb") as out:
            while chunk := stream.read(1 << 20):
                out.write(chunk)
        return source.media_type
    if ref.kind != "observation":
        raise UsageError(
            "only assets and observations can be extracted",
            hint="extract the observations that it cites",
        )
    row = ledger.evidence.get(ref.id)
    if row is None:
        raise NotFoundError(f"no observation {ref.id} in this scope")
    start, end = row.attributes.get("start"), row.attributes.get("end")
    span = (start, end) if isinstance(start, int) and isinstance(end, int) else None
    cited = Cited(row.locator, row.text, span, as_text)
    return extract(source_of(ledger, row.asset, scratch), cited, made, Limits())


def source_of(ledger: "Ledger", asset: str, scratch: Path) -> Source:
    """Return one asset as a reader sees it, after checking that it still is what it was."""
    row = ledger.assets.row(asset)
    if row is None:
        raise NotFoundError(f"no asset {asset} in this scope")
    inline, path = row.storage == "inline", None
    if not inline and ledger.assets.store.elsewhere is not None:
        path = ledger.assets.store.lend(row.id, scratch)  # hashed when it came
    if path is None or not path.exists():
        ledger.assets.check(row.seq, row.id, row.size, row.storage)
        path = None if inline else ledger.assets.file(row.id)
    return Source(
        asset=row.id,
        size=row.size,
        media_type=row.media_type,
        family=row.family,
        name=row.name,
        scratch=scratch,
        path=path,
        data=ledger.assets.inline_bytes(row.seq) if inline else None,
    )
