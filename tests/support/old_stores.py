"""Build a store as an older version left it, from the dump that stands for it."""

from contextlib import closing
from pathlib import Path

from muniment.store import files, manifest
from muniment.store.database import open_database
from muniment.store.layout import Root, Scope

FIXTURES = Path(__file__).parent.parent / "fixtures"


def old_store(folder: Path, scope: Scope | None = None, *, version: int = 1) -> Root:
    """Return a root whose scope has the ledger of a schema version."""
    root = Root(folder)
    manifest.initialize(root)
    paths = root.scope(scope or Scope())
    files.make_directory(paths.path)
    with closing(open_database(paths.ledger)) as database:
        database.execute((FIXTURES / f"ledger_v{version}.sql").read_text("utf-8"))
    return root
