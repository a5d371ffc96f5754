"""Every reader, over a sample of its family and with the real models: what the port promises."""

import hashlib
from collections import Counter
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from muniment.adapters import registry
from muniment.adapters.ports import (
    Derived,
    Draft,
    Finding,
    Outcome,
    PlaceClaim,
    ReaderSpec,
    Source,
    TimeClaim,
)
from muniment.adapters.tools import LocalTools
from muniment.store.records import Locator

SAMPLES = {
    "text": "note.md",
    "chat": "chat-zh.txt",
    "image": "whiteboard.png",
    "pdf": "letter-scan.pdf",
    "audio": "memo.ogg",
    "video": "standup.mp4",
}
CASES = [
    pytest.param(spec, family, id=f"{spec.name}-{family}")
    for spec in registry.readers()
    for family in sorted(spec.families & SAMPLES.keys())
]
LOCATOR: TypeAdapter[Locator] = TypeAdapter(Locator)


def read(
    spec: ReaderSpec, family: str, samples: Path, tools: LocalTools, scratch: Path
) -> list[Finding]:
    path = samples / SAMPLES[family]
    data = path.read_bytes()
    scratch.mkdir()
    source = Source(
        asset=f"sha256:{hashlib.sha256(data).hexdigest()}",
        size=len(data),
        media_type="",
        family=family,
        name=path.name,
        scratch=scratch,
        data=data,
    )
    return list(registry.load(spec).read(source, tools))


@pytest.mark.parametrize(("spec", "family"), CASES)
def test_findings_are_valid_and_the_same_each_time(
    spec: ReaderSpec, family: str, samples: Path, tools: LocalTools, tmp_path: Path
) -> None:
    first = read(spec, family, samples, tools, tmp_path / "a")
    again = read(spec, family, samples, tools, tmp_path / "b")

    assert first
    assert first == again
    assert not any(isinstance(finding, Outcome) for finding in first[:-1])
    drafts = [finding for finding in first if isinstance(finding, Draft)]
    for draft in drafts:
        check_draft(draft, spec)
    keys = Counter((draft.kind, draft.locator, draft.occurrence) for draft in drafts)
    assert set(keys.values()) <= {1}
    for finding in first:
        check_other(finding)


def check_draft(draft: Draft, spec: ReaderSpec) -> None:
    assert draft.kind in spec.kinds
    assert draft.text.strip()
    assert 0.0 <= draft.confidence <= 1.0
    assert LOCATOR.validate_json(LOCATOR.dump_json(draft.locator)) == draft.locator
    if draft.producer is not None:
        assert draft.producer.role in spec.roles


def check_other(finding: Finding) -> None:
    if isinstance(finding, Derived):
        assert (finding.data is None) != (finding.path is None)
        assert finding.relation
    elif isinstance(finding, TimeClaim):
        assert 0.0 <= finding.confidence <= 1.0
    elif isinstance(finding, PlaceClaim):
        assert abs(finding.latitude) <= 90
        assert abs(finding.longitude) <= 180
