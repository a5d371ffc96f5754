"""Hard forget: plan, erase in one transaction, sweep, look again, and say what was done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muniment.pipeline.forgetting.choosing import choose
from muniment.pipeline.forgetting.hiding import ACTOR
from muniment.pipeline.stages.embed import vectors_held
from muniment.pipeline.stages.follow import Follower
from muniment.pipeline.stages.group import Groups
from muniment.pipeline.stages.run import Tally, new_run_id
from muniment.pipeline.view.cache import ViewCache
from muniment.store import files
from muniment.store.database import erasing, rows
from muniment.store.forgetting import personas, sweep
from muniment.store.forgetting.erase import erase
from muniment.store.forgetting.list import revived
from muniment.store.forgetting.plan import Plan, plan
from muniment.store.forgetting.reduce import rewrite
from muniment.store.forgetting.scan import Samples, Scan, leftover_ids, samples, scan
from muniment.store.forgetting.selection import Selection, Wanted
from muniment.store.index.documents import IndexDamageError
from muniment.store.index.generation import Generations
from muniment.store.ledger import Ledger
from muniment.store.text.segment import IndexCutter

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.pipeline.workspace import Workspace
    from muniment.store.index.fts import TextIndex


@dataclass(slots=True)
class Erased:
    """What a hard forget did; ``resumed`` when an earlier one was finished first, or alone."""

    tombstone: str | None = None
    plan: Plan | None = None
    since: str | None = None
    assets: tuple[str, ...] = ()
    samples: Samples = field(default_factory=Samples)
    scan: Scan = field(default_factory=Scan)
    resumed: bool = False


def planned(
    session: "Session", named: Sequence[str], wanted: Wanted, *, keep_containers: bool
) -> Plan:
    """Say what would go; nothing is written."""
    with session.workspace().planning() as ledger:
        selection = choose(ledger, named, wanted)
        return plan(ledger.database, selection, keep_containers=keep_containers)


def erase_all(
    session: "Session", named: Sequence[str], wanted: Wanted, *, keep_containers: bool
) -> Erased:
    """Erase what is named, with the root held alone; an earlier one that was cut short goes on."""
    workspace = session.workspace()
    with workspace.alone():
        return _erase(
            workspace, lambda ledger: choose(ledger, named, wanted), keep_containers=keep_containers
        )


def erase_again(workspace: "Workspace", digests: Sequence[str]) -> Erased:
    """Erase what a restored scope holds although a forget list names it; nothing is no news.

    The store's key has to be there, or nothing can be told.
    """
    with workspace.alone():
        with _opened(workspace) as held:
            if not revived(held.ledger, digests):
                return Erased()
        return _erase(workspace, lambda ledger: revived(ledger, digests), keep_containers=False)


def _erase(
    workspace: "Workspace", chosen: Callable[[Ledger], Selection], *, keep_containers: bool
) -> Erased:
    done = Erased(resumed=_finish_earlier(workspace))
    with _opened(workspace) as held:
        selection = chosen(held.ledger)
        held.ledger.tombstones.make_key()
        done.plan = plan(held.ledger.database, selection, keep_containers=keep_containers)
        done.samples = samples(held.ledger)
        done.assets, done.since = _assets(held.ledger)
        reduced = rewrite(held.ledger)
        with held.ledger.unit(), erasing(held.ledger.database):
            done.tombstone = erase(held.ledger, done.plan, reduced, selection.personas, actor=ACTOR)
            beside = {int(seq) for seq in sweep.refs(held.ledger, "observation")}
            Groups(held.ledger, Tally(new_run_id())).regroup(beside)
        _sweep(workspace, held)
        done.scan = scan(held.ledger, done.samples, [workspace.cache])
    return done


def resume(session: "Session") -> Erased:
    """Finish a hard forget that was cut short; its words are gone, so its ids are looked for."""
    workspace, done = session.workspace(), Erased()
    with workspace.alone(), _opened(workspace) as held:
        done.resumed = sweep.unfinished(held.ledger)
        if done.resumed:
            done.samples = leftover_ids(held.ledger)
            _sweep(workspace, held)
            done.scan = scan(held.ledger, done.samples, [workspace.cache])
    return done


def _finish_earlier(workspace: "Workspace") -> bool:
    with _opened(workspace) as held:
        left = sweep.unfinished(held.ledger)
        if left:
            _sweep(workspace, held)
    return left


@dataclass(slots=True)
class _Held:
    """The ledger that is open now: a sweep opens a new one."""

    ledger: Ledger


@contextmanager
def _opened(workspace: "Workspace") -> Iterator[_Held]:
    held = _Held(Ledger.create(workspace.root, workspace.scope))
    try:
        yield held
    finally:
        held.ledger.close()


def _assets(ledger: Ledger) -> tuple[tuple[str, ...], str | None]:
    """Return the ids of what goes or is reduced, and when the first of it came."""
    found = rows(
        ledger.database,
        "SELECT id, created_at FROM asset WHERE seq IN "
        "(SELECT seq FROM temp.going WHERE tbl = 'asset' UNION SELECT seq FROM temp.reduced)",
    )
    return tuple(row[0] for row in found), min((row[1] for row in found), default=None)


def _sweep(workspace: "Workspace", held: _Held) -> None:
    """Do what is left to do outside of the ledger's rows; any of it may be done twice."""
    sweep.remove_files(held.ledger)
    ViewCache(workspace).clear()
    _clean_index(workspace, held.ledger)
    versions = [int(version) for version in sweep.refs(held.ledger, "persona")]
    personas.erase(workspace.root, workspace.scope, versions)
    held.ledger = sweep.rewrite(held.ledger)
    sweep.finish(held.ledger)
    sweep.clear_temporary(held.ledger)


def _clean_index(workspace: "Workspace", ledger: Ledger) -> None:
    """Take what went out of the index: words, vectors, and the context of what stands beside it."""
    generations = Generations(ledger.paths.index)
    try:
        generations.prune()
        index = generations.open_text(readonly=False, cutter=IndexCutter(workspace.cache))
        with closing(index):
            _erase_documents(ledger, index)
    except IndexDamageError as error:
        if error.code != "index_missing":
            files.remove_tree(ledger.paths.index)  # it will be made again from what is left


def _erase_documents(ledger: Ledger, index: "TextIndex") -> None:
    index.remove(sweep.refs(ledger, "document"))
    follower = Follower(ledger, index)
    beside = [int(seq) for seq in sweep.refs(ledger, "observation")]
    follower.renew(beside, sweep.refs(ledger, "record"))
    follower.catch_up()
    vectors = vectors_held(index)
    if vectors is not None:
        # Every document that was ever replaced: its vector may be of words that are gone.
        vectors.erase(index.gone())
        vectors.drop_others()
    index.compact()
