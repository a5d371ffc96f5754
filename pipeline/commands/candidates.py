"""``muniment candidates``: what waits for an approval, and the user's decisions."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command, dry_run_option, group
from muniment.store.ids import storable

if TYPE_CHECKING:
    from muniment.pipeline.memory.review import Decided, Wanted
    from muniment.store.ledger import Ledger

Function = TypeVar("Function", bound=Callable[..., Any])

_FILTERS = (
    click.option("--proposer", metavar="NAME", help="Only of this proposer."),
    click.option("--kind", metavar="KIND", help="Only of this kind, such as preference."),
    click.option("--basis", metavar="BASIS", help="Only of this basis, such as media."),
    click.option("--key", metavar="KEY", help="Only about this key, such as home."),
    click.option("--origin", metavar="ORIGIN", help="Only from sources of this origin."),
    click.option(
        "--min-confidence", type=click.FloatRange(0, 1), metavar="N", help="Only as sure as this."
    ),
)


def _filtered(function: Function) -> Function:
    for option in reversed(_FILTERS):
        function = option(function)
    return function


@command("list")
@click.option(
    "--status",
    type=click.Choice(["pending", "active", "rejected", "all"]),
    default="pending",
    show_default=True,
    help="In which state; of the rejected ones, the newest 200.",
)
@_filtered
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@click.option("--jsonl", is_flag=True, help="One JSON object a line, a summary last.")
def list_candidates(
    session: Session, status: str, limit: int | None, jsonl: bool, **filters: Any
) -> None:
    """List candidates with the reason for their state."""
    from muniment.pipeline.memory.review import find
    from muniment.pipeline.output import to_json, write

    with session.workspace().reading() as ledger:
        wanted = _wanted(filters, None if status == "all" else status)
        found = [_document(row) for row in find(ledger, wanted, limit)]
    if jsonl:
        for item in found:
            write(sys.stdout, to_json(item) + "\n")
        write(sys.stdout, to_json({"type": "summary", "count": len(found)}) + "\n")
        return
    document = {"kind": "candidates", "count": len(found), "items": found}
    session.output.answer(document, "\n".join(map(_line, found)))


@command("show")
@click.argument("ref", shell_complete=completes("candidate"))
def show_candidate(session: Session, ref: str) -> None:
    """Show one candidate with its quotes in their context."""
    from muniment.pipeline.memory.review import by_id, in_context

    with session.workspace().reading() as ledger:
        (row,) = by_id(ledger, [_id(ref)], shown=True)
        document = {**_document(row), "context": in_context(ledger, row)}
    session.output.answer(document, shown(document))


@command("approve")
@click.argument("refs", nargs=-1, shell_complete=completes("candidate"))
@click.option("--all-from", metavar="PROPOSER", help="Every pending one of this proposer.")
@_filtered
@dry_run_option
@click.option("--yes", is_flag=True, help="Do not ask before deciding on many.")
def approve_candidates(session: Session, **asked: Any) -> int:
    """Make records of candidates: those named, or all that are selected."""
    from muniment.pipeline.memory.review import approve

    def decide(ledger: "Ledger", row: dict[str, Any], dry_run: bool) -> "Decided":
        return approve(ledger, row, dry_run=dry_run)

    return _decide(session, "approve", decide, asked)


@command("reject")
@click.argument("refs", nargs=-1, shell_complete=completes("candidate"))
@click.option("--all-from", metavar="PROPOSER", help="Every pending one of this proposer.")
@_filtered
@click.option("--reason", default="rejected by the user", show_default=True, help="Kept with it.")
@dry_run_option
@click.option("--yes", is_flag=True, help="Do not ask before deciding on many.")
def reject_candidates(session: Session, reason: str, **asked: Any) -> int:
    """Turn candidates down; a record made of one is taken back."""
    from muniment.pipeline.memory.review import reject

    def decide(ledger: "Ledger", row: dict[str, Any], dry_run: bool) -> "Decided":
        return reject(ledger, row, reason, dry_run=dry_run)

    return _decide(session, "reject", decide, asked)


@command("rejudge")
@dry_run_option
def rejudge_candidates(session: Session, dry_run: bool) -> None:
    """Judge what waits by the policy as it is now; the next propose does the same.

    What became memory under an earlier policy stays.
    """
    from contextlib import nullcontext

    from muniment.pipeline.memory.rejudging import rejudge
    from muniment.pipeline.policy_file import load_policy

    with session.workspace().changing(dry_run=dry_run) as ledger:
        policy = load_policy(ledger.paths)
        with nullcontext() if dry_run else ledger.unit():
            found = rejudge(ledger, policy, dry_run=dry_run)
    status = ("planned" if dry_run else "done") if found else "unchanged"
    document = {"status": status, "approved": found, "unchanged": [], "refused": []}
    session.output.answer(document, _decided("approved", document, dry_run))


@command("review")
@_filtered
def review_candidates(session: Session, **filters: Any) -> None:
    """Go through pending candidates one by one, at a terminal.

    Every decision is kept at once, so a review may be left and taken up again at any time.
    """
    from muniment.pipeline.reviewing import review

    counts = review(session, _wanted(filters, "pending"))
    said = ", ".join(f"{count} {name}" for name, count in counts.items())
    session.output.answer(counts, said)


def _decide(
    session: Session,
    verb: str,
    decide: "Callable[[Ledger, dict[str, Any], bool], Decided]",
    asked: dict[str, Any],
) -> int:
    from muniment.pipeline.memory.review import Decided

    refs, dry_run, workspace = asked["refs"], asked["dry_run"], session.workspace()
    if asked["all_from"] is None and not refs:
        raise click.UsageError(f"name what to {verb}, or select it by --all-from PROPOSER")
    with workspace.reading() as ledger:
        rows = _selected(ledger, asked)
    unasked = asked["all_from"] is not None and rows and not dry_run and not asked["yes"]
    if unasked and not _confirmed(f"{verb} {len(rows)} candidates?"):
        rows = []
    decided = Decided()
    with workspace.changing(dry_run=dry_run) as ledger:
        for row in rows:
            if dry_run:
                decided.add(decide(ledger, row, True))
                continue
            with ledger.unit():
                decided.add(decide(ledger, row, False))
    done = {"approve": "approved", "reject": "rejected"}[verb]
    document = {
        "status": "planned" if dry_run else "done",
        done: decided.done,
        "unchanged": decided.unchanged,
        "refused": decided.refused,
    }
    session.output.answer(document, _decided(done, document, dry_run))
    return int(decided.exit_code)


def _selected(ledger: "Ledger", asked: dict[str, Any]) -> list[dict[str, Any]]:
    from muniment.pipeline.memory.review import by_id, find

    rows = by_id(ledger, [_id(ref) for ref in asked["refs"]])
    if asked["all_from"] is not None:
        wanted = _wanted({**asked, "proposer": asked["all_from"]}, "pending")
        known = {row["id"] for row in rows}
        rows += [row for row in find(ledger, wanted) if row["id"] not in known]
    return rows


def _confirmed(question: str) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(f"this would {question.rstrip('?')}; say --yes to do it")
    return click.confirm(question, err=True)


def _wanted(filters: dict[str, Any], status: str | None) -> "Wanted":
    from muniment.pipeline.memory.review import Wanted

    names = ("proposer", "kind", "basis", "key", "origin", "min_confidence")
    return Wanted(status, **{name: filters[name] for name in names})


def _id(ref: str) -> str:
    return storable(ref.removeprefix("candidate:"))


def _document(row: dict[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in row.items() if name != "seq"}
    return {"ref": f"candidate:{row['id']}", **fields}


def _line(item: dict[str, Any]) -> str:
    from muniment.pipeline.output import printable

    key = f" {item['key']}" if item["key"] else ""
    reason = f" ({item['reason']})" if item["reason"] else ""
    words = " ".join(item["text"].split())[:100]
    line = f"{item['ref']}  {item['status']}  {item['proposer']}  {item['kind']}{key}: {words}"
    return printable(line + reason, one_line=True)


def shown(document: dict[str, Any]) -> str:
    """Write a candidate with its quotes in context for a person."""
    from muniment.pipeline.output import printable

    lines = [_line(document)]
    if document["value"] is not None:
        lines.append(f"  value: {document['value']}")
    for place in document["context"]:
        source = " · ".join(str(place[name]) for name in ("name", "author", "time") if place[name])
        words = f"{place['before']}[[{place['quote']}]]{place['after']}"
        lines.append(f"  {source} ({place['origin']}, {place['kind']})")
        lines += [f"  | {line}" for line in words.splitlines()]
    return printable("\n".join(lines))


def _decided(done: str, document: dict[str, Any], dry_run: bool) -> str:
    from muniment.pipeline.output import printable

    said = f"would be {done}" if dry_run else done
    lines = [f"{said}: {one['ref']} {one['record'] or ''}".rstrip() for one in document[done]]
    for name in ("unchanged", "refused"):
        lines += [f"{name}: {one['ref']} ({one['reason']})" for one in document[name]]
    return printable("\n".join(lines) or "nothing to decide")


candidates = group(
    "candidates",
    {
        "list": list_candidates,
        "show": show_candidate,
        "approve": approve_candidates,
        "reject": reject_candidates,
        "rejudge": rejudge_candidates,
        "review": review_candidates,
    },
    "List, show, approve and reject proposed memories.",
)
