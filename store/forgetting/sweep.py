"""What is left of a hard forget after its transaction: files, caches, free pages.

Everything here can be taken again. The list of what is to do is deleted last.
"""

from contextlib import closing

from muniment.store import access, files
from muniment.store.database import database_errors, erasing, transaction
from muniment.store.forgetting.anew import empty_log, write_anew
from muniment.store.ledger import Ledger
from muniment.store.seals import Seals


def unfinished(ledger: Ledger) -> bool:
    """Tell whether a hard forget was cut short after its transaction."""
    return bool(ledger.database.execute("SELECT 1 FROM erasure LIMIT 1").fetchone())


def refs(ledger: Ledger, kind: str) -> list[str]:
    """Return what is left to do of one kind."""
    rows = ledger.database.execute(
        "SELECT DISTINCT ref FROM erasure WHERE kind = ? ORDER BY seq", (kind,)
    )
    return [row[0] for row in rows]


def remove_files(ledger: Ledger) -> int:
    """Remove the files of assets that are gone, their seals, and every temporary file."""
    seals = Seals(ledger.paths.index)
    removed = 0
    with closing(seals):
        for asset in refs(ledger, "file"):
            if ledger.assets.number(asset) is not None:
                continue
            removed += ledger.assets.store.remove(asset)
            seals.forget(asset)
        seals.compact()
    documents = refs(ledger, "document")
    records = {ref.removeprefix("record:").rpartition("@")[0] for ref in documents
               if ref.startswith("record:")}  # fmt: skip
    access.drop(ledger.paths.access, records)
    # The copies that a migration kept hold all that there was; nothing can be taken out of them.
    for database in (ledger.paths.ledger, ledger.root.user(ledger.scope).database):
        for copy in database.parent.glob(f"{database.name}.schema-*"):
            files.remove(copy)
    clear_temporary(ledger)
    return removed


def clear_temporary(ledger: Ledger) -> None:
    """Remove what lies in the temporary folder; the root is held alone, so it is nobody's."""
    folder = ledger.root.temporary
    for left in folder.iterdir() if folder.is_dir() else ():
        if left.is_dir():
            files.remove_tree(left)
        else:
            files.remove(left)


def rewrite(ledger: Ledger) -> Ledger:
    """Write the ledger anew without its free pages; return it, opened again."""
    root, scope = ledger.root, ledger.scope
    with database_errors(ledger.paths.ledger):
        write_anew(root, ledger.paths.ledger, ledger.database)
    return Ledger.create(root, scope)


def finish(ledger: Ledger) -> None:
    """Delete the list of what was to do, and empty the log."""
    with transaction(ledger.database), erasing(ledger.database):
        ledger.database.execute("DELETE FROM erasure")
    empty_log(ledger.database)
