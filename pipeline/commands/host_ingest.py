"""``muniment host-ingest``."""

import sys
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command

if TYPE_CHECKING:
    from muniment.pipeline.agent.hosts import Batch, Taken


@command("host-ingest")
@click.argument("host")
@click.argument("file", required=False)
@click.option("--format", "form", metavar="NAME", help="claude-code or jsonl; by HOST if left out.")
@click.option("--stream", metavar="ID", help="Which stream of the host the cursor belongs to.")
@click.option("--cursor", metavar="TEXT", help="Where the batch ends, as the host counts.")
@click.option("--expect", metavar="TEXT", help="The cursor that the batch was read from.")
@click.option("--dropped-through", metavar="ID", help="Last event that the host dropped.")
@click.option("--show", is_flag=True, help="Print the cursor of the stream and take nothing in.")
@click.option("--no-proposals", is_flag=True, help="Leave proposals to a later run.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be kept; write nothing.")
def host_ingest(session: Session, host: str, file: str | None, **asked: Any) -> int:
    """Take a host's events in behind a cursor that only one writer can move.

    HOST is the host's tag. FILE is its transcript, whose cursor is kept for it; - reads a batch
    of events from standard input, with --stream, --cursor and --expect.
    """
    from muniment.adapters.hosts import GENERIC, HOSTS, load
    from muniment.pipeline.agent.appending import follow_up
    from muniment.pipeline.agent.hosts import cursor_of, ingest
    from muniment.store.errors import UsageError

    read = load(asked["form"] or (host if host in HOSTS else GENERIC))
    if asked["show"]:
        stream = _required(asked["stream"], "--stream")
        cursor = cursor_of(session, host, stream)
        answer = {"host": host, "stream": stream, "cursor": cursor}
        session.output.answer(answer, cursor or "none")
        return 0
    if file is None:
        raise UsageError("no transcript was named", hint="give a FILE, or - for a batch")
    batch = (
        _from_stdin(host, asked, read) if file == "-" else _from_file(session, host, file, asked)
    )
    dry_run = asked["dry_run"]
    taken = ingest(session, batch, dry_run=dry_run)
    proposed: dict[str, Any] = {"candidates": 0, "records": 0, "pending": "skipped"}
    if not asked["no_proposals"] and not dry_run:
        proposed = follow_up(session)
    return _answer(session, batch, taken, {**proposed, "dry_run": dry_run})


def _from_stdin(host: str, asked: dict[str, Any], read: Any) -> "Batch":
    from muniment.pipeline.agent.hosts import Batch

    lines = sys.stdin.read().split("\n")
    return Batch(
        host, _required(asked["stream"], "--stream"), list(read(lines)),
        _required(asked["cursor"], "--cursor"), asked["expect"],
        dropped_through=asked["dropped_through"],
    )  # fmt: skip


def _from_file(session: Session, host: str, file: str, asked: dict[str, Any]) -> "Batch":
    from dataclasses import replace
    from pathlib import Path

    from muniment.adapters.hosts import GENERIC, HOSTS, load
    from muniment.pipeline.agent.hosts import transcript

    read = load(asked["form"] or (host if host in HOSTS else GENERIC))
    batch = transcript(session, host, Path(file), read)
    return replace(batch, dropped_through=asked["dropped_through"])


def _required(value: str | None, option: str) -> str:
    from muniment.store.errors import UsageError

    if not value:
        raise UsageError(f"{option} is needed", hint="see: muniment host-ingest --help")
    return value


def _answer(session: Session, batch: "Batch", taken: "Taken", proposed: dict[str, Any]) -> int:
    from collections import Counter

    from muniment.store.errors import ExitCode

    counts = Counter(outcome.status for outcome in taken.outcomes)
    failed = [one.as_dict() for one in taken.outcomes if one.status == "failed"]
    document = {
        "host": batch.host,
        "stream": batch.stream,
        "status": taken.status,
        "cursor": taken.cursor,
        **{name: counts[name] for name in ("appended", "known", "fragment", "forgotten")},
        "sessions": list(dict.fromkeys(one.session for one in taken.outcomes if one.session)),
        "closed": taken.closed,
        "failed": failed,
        **proposed,
    }
    for one in failed:
        session.output.warn(f"{one['event_id'] or one['line']}: {one['message']} ({one['code']})")
    told = ", ".join(f"{count} {status}" for status, count in counts.items()) or "nothing new"
    session.output.answer(document, f"{taken.status}: {told}")
    return int(ExitCode.PARTIAL if failed else ExitCode.DONE)
