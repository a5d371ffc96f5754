"""``muniment doctor``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from muniment.pipeline.checks import Check, codecs, languages, packages, permissions
from muniment.pipeline.options import Session, command
from muniment.store.errors import ExitCode, MunimentError

if TYPE_CHECKING:
    from muniment.pipeline.workspace import Workspace


@command("doctor")
def doctor(session: Session) -> int:
    """Check every dependency and the store's integrity."""
    workspace = session.workspace()
    checks = [
        *_python(),
        *packages(),
        *_programs(),
        *codecs(),
        *_models(session),
        *languages(),
        *_readers(),
        *_servers(),
        *_counter(session),
        *_engine(session),
        *_index(workspace),
        _machine(session),
        *_places(workspace),
        *permissions((("root", workspace.root.path), ("cache", workspace.cache))),
        _desktop(),
        *_store(workspace),
    ]
    failed = [check for check in checks if not check.ok and check.needed]
    document = {"ok": not failed, "checks": [check._asdict() for check in checks]}
    session.output.answer(document, "\n".join(map(_line, checks)))
    return _worst(failed)


def _worst(failed: list[Check]) -> int:
    order = (ExitCode.STATE, ExitCode.MISSING_TOOL, ExitCode.DAMAGE, ExitCode.FAILED)
    codes = {check.exit_code for check in failed}
    return next((int(code) for code in order if code in codes), int(ExitCode.DONE))


def _line(check: Check) -> str:
    from muniment.pipeline.output import printable

    mark = "ok  " if check.ok else "FAIL" if check.needed else "--  "
    fix = f"  -> {check.fix}" if check.fix and not check.ok else ""
    return printable(f"{mark}  {check.area}: {check.name}: {check.detail}{fix}", one_line=True)


def _python() -> Iterator[Check]:
    import platform

    import apsw

    yield Check("runtime", "python", True, platform.python_version())
    fts = "ENABLE_FTS5" in apsw.compile_options
    yield Check("runtime", "sqlite", fts, apsw.sqlite_lib_version(), "pip install -U apsw")


def _programs() -> Iterator[Check]:
    from muniment.adapters.process import RunLimits, find_program, run

    for name in ("ffmpeg", "ffprobe"):
        fix = f"install ffmpeg, or set MUNIMENT_{name.upper()}"
        try:
            path = find_program(name)
            said = run([path, "-version"], RunLimits(wall_seconds=20)).decode().splitlines()
        except MunimentError as error:
            yield Check("program", name, False, error.message, fix)
        else:
            yield Check("program", name, True, f"{path} ({said[0] if said else 'no version'})")


def _models(session: Session) -> Iterator[Check]:
    from muniment.adapters import registry
    from muniment.pipeline.flow import models_of

    models = models_of(session)
    for row in registry.describe_models(models):
        optional = row["adapter"] is None
        parts = [str(row[key]) for key in ("adapter", "model", "version") if row.get(key)]
        facts = [f"{row['megabytes']} MB"] if row.get("megabytes") else []
        facts += [str(row[key]) for key in ("licence", "source", "speed") if row.get(key)]
        detail = f"{' '.join(parts)} ({', '.join(facts)})" if parts else "none configured"
        waits = models.waiting().get(row["role"])
        detail += f"; the configured one waits for the tier {waits}" if waits else ""
        yield Check("model", row["role"], row["available"], detail, row["hint"], not optional)


def _readers() -> Iterator[Check]:
    from muniment.adapters import registry

    for name, reason in registry.broken():
        yield Check("adapter", name, False, reason, "reinstall or remove its package", False)


def _machine(session: Session) -> Check:
    from muniment.pipeline.machine import GIB, cores, measure, reason_for, tier_of

    memory, pinned = measure(), session.settings["tier"]
    tier = session.settings.watch.tier() if pinned else tier_of(memory)
    why = "pinned by the setting tier" if pinned else reason_for(tier, memory)
    detail = (
        f"{tier.name} ({why}): {memory.free / GIB:.1f} of {memory.total / GIB:.1f} GiB free, "
        f"limited by the {memory.limited_by}; {tier.jobs_on(cores())} workers, {tier.readers} "
        f"readers, {tier.texts} texts a batch, {tier.hops} hops, {tier.depth:.0%} of the hits"
    )
    return Check("machine", "tier", True, detail)


def _servers() -> Iterator[Check]:
    from muniment.pipeline.commands.serve import require_sdk
    from muniment.pipeline.commands.serve_web import require_packages

    for name, what, require in (
        ("mcp", "MCP SDK", require_sdk),
        ("web", "Starlette", require_packages),
    ):
        try:
            detail = f"{what} {require()}"
        except MunimentError as error:
            yield Check("server", name, False, error.message, error.hint, False)
        else:
            yield Check("server", name, True, detail)


def _counter(session: Session) -> Iterator[Check]:
    """Try what counts budgets, where the settings name it."""
    from muniment.pipeline.recall.tokens import counter_of

    if (named := session.settings["tokenizer"]) is None:
        return
    try:
        counter_of(named)("muniment")
    except MunimentError as error:
        yield Check("counter", named, False, error.message, error.hint)
    else:
        yield Check("counter", named, True, "counts the tokens of budgets")


def _index(workspace: "Workspace") -> Iterator[Check]:
    """Look at the server of the index, where the settings name one."""
    from muniment.pipeline.indexes import address_of, is_remote, scope_key

    if not is_remote(workspace.settings):
        return
    from muniment.adapters.indexes.postgres.checking import examine

    try:
        address = address_of(workspace.settings)
    except MunimentError as error:
        yield Check("index", "address", False, error.message, error.hint, exit_code=ExitCode.USAGE)
        return
    for found in examine(address, scope_key(workspace.root, workspace.scope)):
        yield Check("index", found.name, found.ok, found.detail, found.fix)


def _engine(session: Session) -> Iterator[Check]:
    """Look at the cluster, where the settings name one."""
    from muniment.pipeline.cluster.settings import cluster_of, is_clustered

    if not is_clustered(session.settings):
        return
    from muniment.pipeline.cluster.checking import examine
    from muniment.pipeline.flow import models_of

    for found in examine(cluster_of(session.settings), models_of(session)):
        yield Check("engine", found.name, found.ok, found.detail, found.fix)


def _places(workspace: "Workspace") -> Iterator[Check]:
    import os
    import shutil

    for name, path in (("root", workspace.root.path), ("cache", workspace.cache)):
        existing = next(folder for folder in (path, *path.parents) if folder.exists())
        writable = os.access(existing, os.W_OK)
        free = shutil.disk_usage(existing).free // 1024**2
        yield Check(
            "place", name, writable, f"{path}: {free} MiB free",
            f"make {existing} writable", exit_code=ExitCode.FAILED,
        )  # fmt: skip


def _desktop() -> Check:
    """Look for what ``show --open`` hands things to."""
    from muniment.adapters.desktop import opener

    try:
        return Check("program", "desktop", True, opener())
    except MunimentError as error:
        return Check("program", "desktop", False, error.message, error.hint, False)


def _store(workspace: "Workspace") -> Iterator[Check]:
    from muniment.store import manifest

    state = manifest.state_of(workspace.root)
    if state is manifest.RootState.UNINITIALIZED:
        yield Check("store", "state", True, "none yet")
        return
    usable = state is manifest.RootState.CURRENT
    fix = "" if usable else manifest.refusal(workspace.root, state).hint
    yield Check("store", "state", usable, state.value, fix, exit_code=ExitCode.STATE)
    if usable and workspace.root.scope(workspace.scope).ledger.exists():
        yield from _ledger(workspace)
    if usable:
        yield from _assets(workspace)
        yield from _backups(workspace)


def _assets(workspace: "Workspace") -> Iterator[Check]:
    """Try the object store out, where the root has one."""
    from muniment.store.asset_places import place_of

    place = place_of(workspace.root)
    if place is None:
        return
    from muniment.store.backends.probe import probe

    for found in probe(place, offline=workspace.root.offline):
        yield Check(
            "assets", found.name, found.ok, found.detail, found.fix, exit_code=ExitCode.FAILED
        )


def _backups(workspace: "Workspace") -> Iterator[Check]:
    """Tell when the store was last backed up, and when a backup was last tried."""
    from muniment.store.backup import notes

    for kind, outcome, fix in (
        (notes.BACKUP, "complete", "run: muniment backup create DEST"),
        (notes.DRILL, "ok", "run: muniment backup drill DEST"),
    ):
        last = notes.latest(workspace.root, kind)
        detail = "never" if last is None else f"{last['at']} {last['repository']}"
        well = last is not None and bool(last[outcome])
        yield Check("store", f"last {kind}", well, detail, fix, needed=False)


def _ledger(workspace: "Workspace") -> Iterator[Check]:
    fix = "run: muniment verify"
    try:
        with workspace.reading() as ledger:
            rows = ledger.database.execute("PRAGMA quick_check(1)").fetchall()
            failed = ledger.audit.failures()
    except MunimentError as error:
        yield Check("store", "ledger", False, error.message, fix, exit_code=ExitCode.DAMAGE)
        return
    said: Any = rows[0][0]
    yield Check("store", "ledger", said == "ok", said, fix, exit_code=ExitCode.DAMAGE)
    last = f"; the last at {failed[-1]['at']}: {failed[-1]['code']}" if failed else ""
    yield Check(
        "store", "model calls", not failed, f"{len(failed)} ranges failed{last}",
        "the next propose asks again", needed=False,
    )  # fmt: skip
