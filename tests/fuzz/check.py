"""Give one input to every reader of its family and say what is wrong with what comes out."""

import hashlib
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

from fuzz.inputs import Input
from support.media import BlindTools

from muniment.adapters import registry
from muniment.adapters.formats.sniff import HEAD_BYTES, TAIL_BYTES, sniff
from muniment.adapters.ports import Draft, Finding, Limits, Outcome, ReaderSpec, Source
from muniment.store.errors import MunimentError
from muniment.store.records import Status

# Small budgets: what is looked for is whether they hold.
LIMITS = Limits(
    max_pixels=20_000_000, max_pages=20, max_key_frames=8, max_members=200, max_depth=2,
    max_unpacked_bytes=64 * 1024**2, max_cells=20_000, max_text_bytes=8 * 1024**2, tool_seconds=10,
)  # fmt: skip
MOST_FINDINGS = 100_000
STATUSES = frozenset(Status.__args__)  # type: ignore[attr-defined]  # the literal's own values


def faults(given: Input, scratch: Path) -> Iterator[str]:
    """Yield what goes wrong: an error that is not ours, or a finding that can't be kept."""
    head, tail = given.data[:HEAD_BYTES], given.data[-TAIL_BYTES:]
    kind = sniff(head, tail, len(given.data), given.name)
    for spec in registry.readers_for(kind.family):
        scratch.mkdir(parents=True, exist_ok=True)
        source = Source(
            asset="sha256:" + hashlib.sha256(given.data).hexdigest(), size=len(given.data),
            media_type=kind.media_type, family=kind.family, name=given.name, scratch=scratch,
            data=given.data,
        )  # fmt: skip
        try:
            yield from (f"{spec.name}: {fault}" for fault in _read(spec, source))
        except MunimentError:
            continue  # refused with a reason
        except Exception as error:
            yield f"{spec.name}: {type(error).__name__}: {error} {_place(error)}"
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


def _read(spec: ReaderSpec, source: Source) -> Iterator[str]:
    ended = False
    for number, finding in enumerate(registry.load(spec).read(source, BlindTools(limits=LIMITS))):
        if number > MOST_FINDINGS:
            yield "too many findings"
            return
        if ended:
            yield "a finding behind the outcome"
        ended = isinstance(finding, Outcome)
        yield from _finding(spec, finding)


def _finding(spec: ReaderSpec, finding: Finding) -> Iterator[str]:
    pickle.dumps(finding)
    if isinstance(finding, Outcome) and (finding.status not in STATUSES or not finding.code):
        yield f"an outcome without a status or code: {finding}"
    if isinstance(finding, Draft):
        if finding.kind not in spec.kinds:
            yield f"an observation of a kind that it does not cover: {finding.kind}"
        if not finding.text.strip() or not 0 <= finding.confidence <= 1:
            yield f"an observation without words or sense: {finding.text[:40]!r}"
        finding.text.encode("utf-8")


def _place(error: BaseException) -> str:
    trace, last = error.__traceback__, ""
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if "muniment" in name or "/adapters/" in name:
            last = f"({Path(name).name}:{trace.tb_lineno})"
        trace = trace.tb_next
    return last
