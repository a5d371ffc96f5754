"""Try a restore before it is needed: bring a snapshot back aside, verify it, ask it something."""

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.store import manifest
from muniment.store.backup.restore import restore
from muniment.store.errors import MunimentError, UsageError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.migrating import migrate
from muniment.store.scratch import aside
from muniment.store.verify import verify

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.backup.repository import Repository

_KINDS = ("message", "text", "page_text", "asr", "ocr", "subtitle")
_LONGEST_QUESTION = 120
_LEAST_QUESTION = 12


def rehearse(
    session: "Session", repository: "Repository", *, snapshot: str, folder: str | None,
    recalls: int,
) -> dict[str, Any]:  # fmt: skip
    """Restore, verify and recall; return a report. The temporary store is gone afterwards."""
    chosen = repository.read(snapshot)
    with aside(_place(session, repository, folder), "drill") as temporary:
        root = Root(temporary / "root")
        restored = restore(root, repository, chosen)
        migrated = migrate(root)["migrated"]
        scopes = [_scope(session, root, Scope(*name.split("/")), recalls) for name in chosen.scopes]
    ok = all(not one["damaged"] and (one["answered"] or not one["asked"]) for one in scopes)
    return {
        "snapshot": chosen.id,
        "files": restored["files"],
        "bytes": restored["bytes"],
        "left_out": restored["left_out"],
        "migrated": migrated,
        "scopes": scopes,
        "ok": ok and not restored["left_out"],
    }


def _place(session: "Session", repository: "Repository", folder: str | None) -> Path:
    """Choose where: as asked, else inside the root, else beside the backup if that is plain."""
    if folder is not None:
        return Path(folder).expanduser().absolute()
    root = session.workspace().root
    if manifest.state_of(root) is manifest.RootState.CURRENT:
        return root.temporary
    own = repository.place.temporary
    if repository.encrypted or own is None:
        raise UsageError(
            "a drill writes plain bytes, and there is no root to write them to",
            code="no_place",
            hint="name a folder with --in",
        )
    return own


def _scope(session: "Session", root: Root, scope: Scope, recalls: int) -> dict[str, Any]:
    report = verify(root, scope)
    questions = [] if report.damaged else _questions(root, scope, recalls)
    answers = [_answered(session, root, scope, question) for question in questions]
    return {
        "scope": scope.as_dict(),
        "damaged": report.damaged,
        "findings": report.as_dict()["findings"],
        "counts": report.counts,
        "asked": len(answers),
        "answered": sum(answers),
    }


def _questions(root: Root, scope: Scope, amount: int) -> list[str]:
    """Take the words of some of the newest observations; each should find itself."""
    found: list[str] = []
    with Ledger.read(root, scope) as ledger:
        where = f"o.kind IN ({', '.join('?' * len(_KINDS))}) ORDER BY o.seq DESC LIMIT 200"
        with closing(ledger.evidence.live(where, _KINDS)) as rows:  # type: ignore[type-var]
            for row in rows:
                words = " ".join(row.text.split())[:_LONGEST_QUESTION]
                if len(found) < amount and len(words) >= _LEAST_QUESTION and words not in found:
                    found.append(words)
    return found


def _answered(session: "Session", root: Root, scope: Scope, question: str) -> bool:
    from muniment.pipeline.options import Session as NewSession
    from muniment.pipeline.recalling import answer

    flags = {
        "root": str(root.path), "cache": str(session.settings.cache), "offline": True,
        **scope.as_dict(),
    }  # fmt: skip
    try:
        pack, _ = answer(NewSession(flags), question, {"semantic": False})
    except MunimentError:
        return False
    return bool(pack["coverage"] != "none")
