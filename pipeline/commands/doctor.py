"""``muniment doctor``."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.pipeline.options import Session, command
from muniment.store.errors import ExitCode, MunimentError

if TYPE_CHECKING:
    from muniment.pipeline.workspace import Workspace


class Check(NamedTuple):
    """One thing that was looked at; ``needed`` false marks what is optional."""

    area: str
    name: str
    ok: bool
    detail: str
    fix: str = ""
    needed: bool = True
    exit_code: ExitCode = ExitCode.MISSING_TOOL


@command("doctor")
def doctor(session: Session) -> int:
    """Check every dependency and the store's integrity."""
    workspace = session.workspace()
    checks = [
        *_python(),
        *_programs(),
        *_models(session),
        *_readers(),
        *_servers(),
        _machine(session),
        *_places(workspace),
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

    for row in registry.describe_models(models_of(session)):
        optional = row["adapter"] is None
        parts = [str(row[key]) for key in ("adapter", "model", "version") if row.get(key)]
        facts = [f"{row['megabytes']} MB"] if row.get("megabytes") else []
        facts += [str(row[key]) for key in ("licence", "source", "speed") if row.get(key)]
        detail = f"{' '.join(parts)} ({', '.join(facts)})" if parts else "none configured"
        yield Check("model", row["role"], row["available"], detail, row["hint"], not optional)


def _readers() -> Iterator[Check]:
    from muniment.adapters import registry

    for name, reason in registry.broken():
        yield Check("adapter", name, False, reason, "reinstall or remove its package", False)


def _machine(session: Session) -> Check:
    from muniment.pipeline.machine import GIB, cores, measure

    memory, pinned = measure(), session.settings["tier"]
    tier = session.settings.watch.tier()
    why = "pinned" if pinned else f"limited by the {memory.limited_by}"
    detail = (
        f"{tier.name} ({why}): {memory.free / GIB:.1f} of {memory.total / GIB:.1f} GiB free, "
        f"{tier.jobs_on(cores())} workers, {tier.readers} readers"
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
        yield _ledger(workspace)


def _ledger(workspace: "Workspace") -> Check:
    fix = "run: muniment verify"
    try:
        with workspace.reading() as ledger:
            rows = ledger.database.execute("PRAGMA quick_check(1)").fetchall()
    except MunimentError as error:
        return Check("store", "ledger", False, error.message, fix, exit_code=ExitCode.DAMAGE)
    said: Any = rows[0][0]
    return Check("store", "ledger", said == "ok", said, fix, exit_code=ExitCode.DAMAGE)
