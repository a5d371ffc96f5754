"""Write a database anew: a deleted row may leave a copy in the gaps between others.

The root is held alone, so nobody has the file open.
"""

import os
import time
from contextlib import closing
from pathlib import Path

import apsw

from muniment.store import files
from muniment.store.database import open_unjournalled
from muniment.store.errors import LockedError
from muniment.store.layout import Root

_TRIES = 3


def write_anew(root: Root, path: Path, database: apsw.Connection) -> None:
    """Put a copy without free pages in the place of a database; its connection is closed."""
    empty_log(database)
    files.make_directory(root.temporary)
    with files.temporary_file(root.temporary) as (temporary, stream):
        database.execute("VACUUM INTO ?", (os.fspath(temporary),))
        with closing(open_unjournalled(temporary)) as made:
            made.pragma("journal_mode", "wal")
        database.close()
        for suffix in ("-wal", "-shm"):
            files.remove(path.with_name(path.name + suffix))
        files.sync_file(stream)
        files.publish(temporary, path)


def empty_log(database: apsw.Connection) -> None:
    """Move everything out of the write-ahead log and cut it to nothing."""
    for _ in range(_TRIES):
        ((busy, *_),) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if not busy:
            return
        time.sleep(0.1)
    raise LockedError(
        "somebody has the database open", hint="close other programs on the store and try again"
    )
