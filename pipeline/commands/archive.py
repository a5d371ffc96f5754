"""``muniment export`` and ``import``."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from muniment.pipeline.options import Session, command
from muniment.pipeline.repositories import sized
from muniment.store.errors import ExitCode, UsageError


@command("export")
@click.argument("file")
@click.option("--with-originals", is_flag=True, help="Assets over 64 KiB, too.")
@click.option("--overwrite", is_flag=True, help="Replace FILE if it is there.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be written; write nothing.")
def export_archive(
    session: Session, file: str, with_originals: bool, overwrite: bool, dry_run: bool
) -> int:
    """Write the scope's authoritative state as a portable JSONL archive.

    FILE - writes to standard output, where the last line is the answer.
    """
    from muniment.store import files, manifest
    from muniment.store.archive.write import Archive

    target = None if file == "-" else Path(file).expanduser().absolute()
    if target is not None:
        _require_free(target, overwrite=overwrite)
    workspace = session.workspace()
    manifest.require(workspace.root)
    with workspace.planning() if dry_run else workspace.reading() as ledger:
        archive = Archive(ledger, originals=with_originals)
        if dry_run:
            for _ in archive.lines():
                pass
        elif target is None:
            _stream(archive.lines())
        else:
            files.write_atomic(target, archive.lines())
    document = {
        "file": file, "rows": archive.rows, "originals": archive.originals,
        "bytes": archive.size, "dry_run": dry_run,
    }  # fmt: skip
    missing = archive.originals["missing"]
    for lost in missing:
        session.output.warn(f"not in the archive: {lost['asset']} ({lost['reason']})")
    if target is not None or dry_run:
        verb = "would write" if dry_run else "wrote"
        said = f"{verb} {sum(archive.rows.values())} rows, {sized(archive.size)}"
        session.output.report(document, said)
    return ExitCode.PARTIAL if missing else ExitCode.DONE


def _require_free(target: Path, *, overwrite: bool) -> None:
    """Refuse to write over a file unasked, and over what is none in any case."""
    if target.exists() and not (overwrite and target.is_file() and not target.is_symlink()):
        raise UsageError(
            "the file exists" if target.is_file() else "this is not a file",
            code="exists",
            hint="give --overwrite, or another name",
            path=os.fsdecode(target),
        )


def _stream(lines: Iterable[bytes]) -> None:
    """Write to standard output; a full disk behind it is told as such."""
    try:
        for line in lines:
            sys.stdout.buffer.write(line)
        sys.stdout.flush()
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        from muniment.store import files

        with files.space_errors():
            raise


@command("import")
@click.argument("file")
@click.option("-n", "--dry-run", is_flag=True, help="Check the archive; write nothing.")
def import_archive(session: Session, file: str, dry_run: bool) -> int:
    """Take an archive into this scope, which must be empty.

    The archive is read whole and checked before anything is written.
    """
    from muniment.store.archive import load, read
    from muniment.store.scratch import scratch

    workspace = session.workspace()
    path = Path(file).expanduser().absolute()
    with workspace.planning() as ledger:
        load.require_empty(ledger)
    survey = read.survey(path)
    if dry_run:
        load.rehearse(path, survey)
    else:
        with workspace.writing() as ledger, scratch(workspace.root, workspace.scope) as folder:
            load.load(path, survey, ledger, folder)
    document = {
        "file": file,
        "scope": workspace.scope.as_dict(),
        "from_scope": survey.header["scope"],
        "schema": survey.header["schema"],
        "rows": survey.rows,
        "originals": len(survey.originals),
        "missing_originals": survey.missing,
        "dry_run": dry_run,
    }
    if survey.missing:
        session.output.warn(
            f"{survey.missing} originals are not in the archive: ingest the files again, "
            "or export --with-originals"
        )
    verb = "would import" if dry_run else "imported"
    session.output.report(document, f"{verb} {sum(survey.rows.values())} rows")
    return ExitCode.PARTIAL if survey.missing else ExitCode.DONE
