"""Hard forget: plan, erase in one transaction, sweep, look again, and say what was done."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muniment.pipeline.forgetting.choosing import choose
from muniment.pipeline.forgetting.hiding import ACTOR
from muniment.pipeline.indexes import is_remote
from muniment.pipeline.stages.embed import vectors_held
from muniment.pipeline.stages.follow import Follower
from muniment.pipeline.stages.group import Groups
from muniment.pipeline.stages.run import Tally, new_run_id
from muniment.pipeline.view.cache import ViewCache
from muniment.store.database import erasing, rows
from muniment.store.forgetting import personas, sweep
from muniment.store.forgetting.erase import erase
from muniment.store.forgetting.list import revived
from muniment.store.forgetting.plan import Plan, plan
from muniment.store.forgetting.reduce import rewrite
from muniment.store.forgetting.scan import Samples, Scan, leftover_ids, samples, scan
from muniment.store.forgetting.selection import Selection, Wanted
from muniment.store.index.documents import IndexDamageError
from muniment.store.index.generation import FileIndexes
from muniment.store.ledger import Ledger
from muniment.store.text.segment import IndexCutter

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.pipeline.workspace import Workspace
    from muniment.store.index.ports import SearchIndex


@dataclass(slots=True)
class Erased:
    """What a hard forget did; ``resumed`` when an earlier one was finished first, or alone."""

    tombstone: str | None = None
    plan: Plan | None = None
    assets: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    personas: tuple[int, ...] = ()
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


def erase_again(workspace: "Workspace", digests: Sequence[str], key: bytes) -> Erased:
    """Erase what a restored scope holds although a forget list names it; nothing is no news."""
    with workspace.alone():
        with _opened(workspace) as held:
            if not revived(held.ledger, digests, key):
                return Erased()
        return _erase(
            workspace, lambda ledger: revived(ledger, digests, key), keep_containers=False
        )


def _erase(
    workspace: "Workspace", chosen: Callable[[Ledger], Selection], *, keep_containers: bool
) -> Erased:
    done = Erased(resumed=_finish_earlier(workspace))
    with _opened(workspace) as held:
        selection = chosen(held.ledger)
        done.personas = tuple(sorted(selection.personas))
        held.ledger.tombstones.make_key()
        done.plan = plan(held.ledger.database, selection, keep_containers=keep_containers)
        done.samples = samples(held.ledger)
        done.assets = _assets(held.ledger)
        reduced = rewrite(held.ledger)
        with held.ledger.unit(), erasing(held.ledger.database):
            done.tombstone = erase(held.ledger, done.plan, reduced, selection.personas, actor=ACTOR)
            beside = {int(seq) for seq in sweep.refs(held.ledger, "observation")}
            done.digests = held.ledger.tombstones.of(done.tombstone)
            Groups(held.ledger, Tally(new_run_id())).regroup(beside)
        _sweep(workspace, held)
        done.scan = _scanned(workspace, held.ledger, done.samples)
    return done


def _scanned(workspace: "Workspace", ledger: Ledger, looked_for: Samples) -> Scan:
    """Look for what went in every file, and in what an index server holds."""
    found = scan(ledger, looked_for, [workspace.cache])
    left = workspace.indexes().traces(looked_for.ids, looked_for.passages)
    names = [ref.removeprefix("observation:") for ref in left]
    # What stays may say the same in other letters; its row was just written anew.
    stays = ledger.evidence.live_by_id(names)
    found.hits += [
        f"index server: {ref}" for ref, name in zip(left, names, strict=True) if name not in stays
    ]
    return found


def resume(session: "Session") -> Erased:
    """Finish a hard forget that was cut short; its words are gone, so its ids are looked for."""
    workspace, done = session.workspace(), Erased()
    with workspace.alone(), _opened(workspace) as held:
        done.resumed = sweep.unfinished(held.ledger)
        if done.resumed:
            done.samples = leftover_ids(held.ledger)
            _sweep(workspace, held)
            done.scan = _scanned(workspace, held.ledger, done.samples)
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


def _assets(ledger: Ledger) -> tuple[str, ...]:
    """Return the ids of what goes or is reduced."""
    found = rows(
        ledger.database,
        "SELECT id FROM asset WHERE seq IN "
        "(SELECT seq FROM temp.going WHERE tbl = 'asset' UNION SELECT seq FROM temp.reduced)",
    )
    return tuple(row[0] for row in found)


def _sweep(workspace: "Workspace", held: _Held) -> None:
    """Do what is left to do outside of the ledger's rows; any of it may be done twice."""
    sweep.remove_files(held.ledger)
    ViewCache(workspace).clear()
    _clean_index(workspace, held.ledger)
    versions = [int(version) for version in sweep.refs(held.ledger, "persona")]
    personas.erase(workspace.root, workspace.scope, versions)
    held.ledger = sweep.rewrite(held.ledger)
    _clean_displaced(workspace)
    sweep.finish(held.ledger)
    sweep.clear_temporary(held.ledger)


def _clean_displaced(workspace: "Workspace") -> None:
    from muniment.pipeline.forgetting.carrying import cleanse_displaced

    cleanse_displaced(workspace.settings, workspace.root)


def _clean_index(workspace: "Workspace", ledger: Ledger) -> None:
    """Take what went out of the index: words, vectors, and the context of what stands beside it."""
    indexes = workspace.indexes()
    if is_remote(workspace.settings):
        # What another engine left behind here follows nothing any more.
        FileIndexes(ledger.paths.index).discard()
    try:
        indexes.prune()
        with closing(indexes.open(readonly=False, cutter=IndexCutter(workspace.cache))) as index:
            _erase_documents(ledger, index)
    except IndexDamageError as error:
        if error.code != "index_missing":
            indexes.discard()  # it will be made again from what is left


def _erase_documents(ledger: Ledger, index: "SearchIndex") -> None:
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
