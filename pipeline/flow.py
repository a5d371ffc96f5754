"""Run stages in their order over one scope: the plumbing that ``ingest`` and the stage commands
share.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muniment.adapters.ports import Limits
from muniment.pipeline.options import Session
from muniment.pipeline.progress import ProgressLine
from muniment.pipeline.stages.run import Run, Tally, new_run_id
from muniment.store.errors import ExitCode, UsageError
from muniment.store.ledger import Ledger
from muniment.store.scratch import scratch

if TYPE_CHECKING:
    from muniment.adapters.models.settings import ModelSettings
    from muniment.adapters.ports import Embedder

STAGES = ("register", "observe", "group", "propose", "index")


@dataclass(frozen=True, slots=True)
class Orders:
    """What one command asks of the stages."""

    command: str
    stages: tuple[str, ...]
    register: Callable[[Run, bool], None] | None = None
    dry_run: bool = False
    retry_failed: bool = False
    embeddings: bool = True
    allow_forgotten: bool = False
    time_limit: float | None = None
    stop: Callable[[], bool] = lambda: False


def perform(session: Session, orders: Orders) -> tuple[Tally, ExitCode]:
    """Run the stages, keeping what was done when one is interrupted; return counts and code."""
    workspace = session.workspace()
    tally = Tally(new_run_id())
    if orders.dry_run:
        with workspace.planning() as ledger:
            run = _run(session, ledger, tally, orders, None)
            _plan(run, orders)
            tally.standing_failures = ledger.attempts.standing_failures()
        return tally, tally.exit_code
    if "register" not in orders.stages:
        with workspace.reading():
            pass  # a stage by itself works on what is there; it makes no store
    with workspace.writing() as ledger, scratch(workspace.root, workspace.scope) as folder:
        run = _run(session, ledger, tally, orders, folder)
        with _recorded(run, orders.command):
            for stage in STAGES:
                if stage in orders.stages:
                    run.progress.start(stage)
                    _STAGE[stage](run, orders, session)
            run.progress.finish()
            tally.standing_failures = ledger.attempts.standing_failures(run.id)
    return tally, tally.exit_code


@contextmanager
def _recorded(run: Run, command: str) -> Iterator[None]:
    """Keep that the run began and how it ended; a run that was killed has no end."""
    with run.ledger.unit():
        run.ledger.attempts.start_run(run.id, command)
    code: int = ExitCode.FAILED
    try:
        yield
        code = run.tally.exit_code
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
        raise
    finally:
        run.progress.finish()
        with run.ledger.unit():
            run.ledger.attempts.end_run(run.id, code, run.tally.counts)


def _run(session: Session, ledger: Ledger, tally: Tally, orders: Orders, folder: Any) -> Run:
    settings = session.settings
    limit = orders.time_limit
    return Run(
        ledger=ledger,
        settings=settings,
        tally=tally,
        progress=ProgressLine(sys.stderr, "never" if settings["quiet"] else settings["progress"]),
        scratch=folder,
        cache=settings.cache,
        limits=_limits(settings.tables.get("limits", {})),
        retry_failed=orders.retry_failed,
        embeddings=orders.embeddings,
        allow_forgotten=orders.allow_forgotten,
        deadline=None if limit is None else time.monotonic() + limit,
        stop=orders.stop,
    )


def _limits(table: dict[str, Any]) -> Limits:
    try:
        return Limits(**table)
    except TypeError:
        raise UsageError(
            "the [limits] table names a limit that does not exist",
            code="bad_config",
            hint=f"known: {', '.join(Limits.__slots__)}",
        ) from None


def _plan(run: Run, orders: Orders) -> None:
    """Say what would be done; the later stages depend on what is registered, so only counts."""
    if "register" in orders.stages and orders.register is not None:
        orders.register(run, True)


def _register(run: Run, orders: Orders, _session: Session) -> None:
    if orders.register is not None:
        orders.register(run, False)


def _observe(run: Run, _orders: Orders, session: Session) -> None:
    from muniment.pipeline.engines import reading_engine
    from muniment.pipeline.executor import InProcess
    from muniment.pipeline.stages.observe import Observation, setup_of
    from muniment.pipeline.stages.relate import Relations

    models = models_of(session)
    setup = setup_of(run, models)

    def tick() -> None:
        run.progress.tick()
        observation.settle()

    with reading_engine(run.settings, setup, tick) as heavy:
        observation = Observation(run, models, InProcess(setup), heavy)
        observation.observe()
    if not run.out_of_time:  # what belongs together is known only of what has been read
        Relations(run).relate()


def _group(run: Run, _orders: Orders, _session: Session) -> None:
    from muniment.pipeline.stages.group import Groups

    Groups(run.ledger, run.tally).group()


def _propose(run: Run, _orders: Orders, session: Session) -> None:
    from muniment.pipeline.stages.propose import propose

    propose(run, models_of(session))


def _index(run: Run, orders: Orders, session: Session) -> None:
    from muniment.pipeline.stages.index import refresh

    embedder = _indexing_embedder_of(session) if orders.embeddings else None
    done = refresh(
        run.ledger, session.workspace().indexes(), run.cache, embedder=embedder,
        progress=run.progress, wait_seconds=run.settings["lock_wait"],
        batch=session.settings.watch.tier().texts, jobs=session.settings.jobs,
    )  # fmt: skip
    run.tally.add("indexed", done.indexed)
    run.tally.add("embedded", done.embedded)
    run.tally.warnings += [done.skipped] if done.skipped else []


def rebuild_index(session: Session, *, anew: bool, embed: bool) -> dict[str, Any]:
    """Build the index of a scope again and swap it in; return what was done."""
    from muniment.pipeline.stages.index import rebuild

    workspace, settings = session.workspace(), session.settings
    progress = ProgressLine(sys.stderr, "never" if settings["quiet"] else settings["progress"])
    with workspace.reading() as ledger:
        done = rebuild(
            ledger, workspace.indexes(), workspace.cache,
            embedder=_indexing_embedder_of(session) if embed else None, embed_again=anew,
            progress=progress, wait_seconds=settings["lock_wait"], jobs=settings.jobs,
        )  # fmt: skip
    progress.finish()
    return done.as_dict()


def drop_index(session: Session) -> None:
    """Drop every generation of the index of a scope, while nobody refreshes it."""
    from muniment.store import locks

    workspace = session.workspace()
    with workspace.reading() as ledger:
        lock = locks.hold(ledger.paths.index_lock, wait_seconds=session.settings["lock_wait"])
        with lock:
            workspace.indexes().discard()


def embedder_of(session: Session) -> "Embedder":
    """Load the configured embedder."""
    from muniment.adapters import registry

    embedder: Embedder = registry.model("embed", models_of(session), session.calls.append)
    return embedder


def _indexing_embedder_of(session: Session) -> "Embedder":
    """Load the embedder for many texts: where the engine is a cluster, its nodes embed them."""
    from muniment.pipeline.engines import embedding_engine

    embedder, models = embedder_of(session), models_of(session)
    return embedding_engine(session.settings, embedder, models, session.calls.append)


def models_of(session: Session) -> "ModelSettings":
    """Return the models that the settings name, as far as the machine bears them now."""
    from muniment.adapters.models.settings import ModelSettings

    settings = session.settings
    chosen = ModelSettings.from_config(
        settings.tables.get("models", {}),
        offline=settings["offline"],
        languages=tuple(settings["languages"]),
    )
    if settings["engine"] != "local":  # they run on other machines
        return chosen
    return chosen.borne_by(settings.watch.tier().name)


_STAGE: dict[str, Callable[[Run, Orders, Session], None]] = {
    "register": _register,
    "observe": _observe,
    "group": _group,
    "propose": _propose,
    "index": _index,
}
