"""Small documents, mails and archives, made to measure, and readers run over them."""

import hashlib
import io
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import cast

from muniment.adapters import registry
from muniment.adapters.extract import Cited, extract
from muniment.adapters.formats.sniff import HEAD_BYTES, TAIL_BYTES, sniff
from muniment.adapters.ports import Derived, Draft, Finding, Limits, Outcome, Source, Tools

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


@dataclass
class Budgets:
    """The tools of readers that need no model."""

    limits: Limits = field(default_factory=Limits)


@cache
def scratch() -> Path:
    """Return a folder for whatever readers spool."""
    return Path(tempfile.mkdtemp(prefix="muniment-tests-"))


def source_of(
    data: bytes, name: str = "file", *, depth: int = 0, like: bytes | None = None
) -> Source:
    """Return bytes as a reader sees them, sniffed (or taken for what ``like`` is)."""
    model = data if like is None else like
    kind = sniff(model[:HEAD_BYTES], model[-TAIL_BYTES:], len(model), name)
    asset = "sha256:" + hashlib.sha256(data).hexdigest()
    return Source(
        asset, len(data), kind.media_type, kind.family, name, scratch(), data=data, depth=depth
    )


def read(
    data: bytes,
    name: str = "file",
    *,
    limits: Limits | None = None,
    depth: int = 0,
    like: bytes | None = None,
) -> list[Finding]:
    """Return what the registered readers of a file's family find."""
    source = source_of(data, name, depth=depth, like=like)
    tools = cast("Tools", Budgets(limits or Limits()))
    return [
        finding
        for spec in registry.readers_for(source.family)
        for finding in registry.load(spec).read(source, tools)
    ]


def drafts(found: Iterable[Finding], kind: str = "") -> list[Draft]:
    """Return the observations among findings."""
    return [f for f in found if isinstance(f, Draft) and kind in {"", f.kind}]


def derived(found: Iterable[Finding]) -> list[Derived]:
    """Return the derived assets among findings."""
    return [finding for finding in found if isinstance(finding, Derived)]


def outcome(found: Iterable[Finding]) -> Outcome | None:
    """Return how reading ended, where it says so."""
    return next((finding for finding in found if isinstance(finding, Outcome)), None)


def quote_of(data: bytes, draft: Draft, name: str = "file") -> str:
    """Return what the locator of an observation is resolved to."""
    target = scratch() / "quote"
    start, end = draft.attributes.get("start"), draft.attributes.get("end")
    span = (start, end) if isinstance(start, int) and isinstance(end, int) else None
    extract(
        source_of(data, name), Cited(draft.locator.model_dump(), draft.text, span), target, Limits()
    )
    return target.read_bytes().decode("utf-8", "surrogatepass")


def zipped(members: Mapping[str, bytes | str], *, packed: bool = True) -> bytes:
    """Return a zip of members in order."""
    out = io.BytesIO()
    how = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, how)
    return out.getvalue()


def relations(*targets: tuple[str, str]) -> str:
    """Return a relations part from (kind, target) pairs, named rId1, rId2, …."""
    rows = "".join(
        f'<Relationship Id="rId{number}" Type="{OFFICE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'<Relationships xmlns="{RELATIONS}">{rows}</Relationships>'


def docx(body: str, parts: Mapping[str, bytes | str] | None = None) -> bytes:
    """Return a Word document with a body of WordprocessingML; ``parts`` come beside it."""
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("officeDocument", "word/document.xml")),
            "word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>',
            **(parts or {}),
        }
    )


def paragraph(text: str, properties: str = "") -> str:
    """Return a paragraph of WordprocessingML."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def xlsx(sheets: Mapping[str, str], parts: Mapping[str, bytes | str] | None = None) -> bytes:
    """Return a workbook whose sheets are given as rows of SpreadsheetML."""
    names = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>'
        for number, name in enumerate(sheets, 1)
    )
    targets = [("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
            "xl/workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{OFFICE}"><sheets>{names}</sheets>'
            "</workbook>",
            "xl/_rels/workbook.xml.rels": relations(
                *targets, ("styles", "styles.xml"), ("sharedStrings", "sharedStrings.xml")
            ),
            **{
                f"xl/worksheets/sheet{number}.xml": f'<worksheet xmlns="{S}"><sheetData>{rows}'
                "</sheetData></worksheet>"
                for number, rows in enumerate(sheets.values(), 1)
            },
            **(parts or {}),
        }
    )


def cell(name: str, text: str) -> str:
    """Return a cell with a string of its own."""
    return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
