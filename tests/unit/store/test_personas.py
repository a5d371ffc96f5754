"""The user's own file: immutable persona versions above the namespaces."""

from pathlib import Path

import apsw
import pytest

from muniment.store import personas
from muniment.store.database import open_database
from muniment.store.errors import LockedError, NotFoundError, StateError
from muniment.store.layout import Root, Scope


def test_versions_are_appended_and_a_rollback_is_one_more(tmp_path: Path) -> None:
    root, scope = Root(tmp_path / "root"), Scope()
    with personas.writing(root, scope) as held:
        assert held.add("one", actor="user", reason="set")
        assert not held.add("one", actor="user", reason="set")
        assert held.add("two", actor="user", reason="set")
        assert held.roll_back(1, actor="user")

    with personas.reading(root, Scope(namespace="work")) as held:
        found = held.versions()

    assert [(one["version"], one["text"], one["restores"]) for one in found] == [
        (1, "one", None), (2, "two", None), (3, "one", 1),
    ]  # fmt: skip


def test_another_user_has_none(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")
    with personas.writing(root, Scope()) as held:
        held.add("one", actor="user", reason="set")

    with personas.reading(root, Scope(user="other")) as held:
        assert held.version() is None
    assert not root.user(Scope(user="other")).path.exists()


def test_a_version_that_is_not_there_can_not_come_back(tmp_path: Path) -> None:
    with (
        personas.writing(Root(tmp_path / "root"), Scope()) as held,
        pytest.raises(NotFoundError),
    ):
        held.roll_back(4, actor="user")


def test_the_file_is_private_and_append_only(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")
    with personas.writing(root, Scope()) as held:
        held.add("one", actor="user", reason="set")
    path = root.user(Scope()).database

    assert path.stat().st_mode & 0o777 == 0o600
    for statement in ("DELETE FROM persona", "UPDATE persona SET text = 'x'"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            open_database(path).execute(statement)


def test_a_newer_file_is_refused_and_two_writers_do_not_meet(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")
    with (
        personas.writing(root, Scope()),
        pytest.raises(LockedError),
        personas.writing(root, Scope()),
    ):
        pass
    database = open_database(root.user(Scope()).database)
    database.pragma("user_version", 99)
    database.close()

    with pytest.raises(StateError), personas.reading(root, Scope()):
        pass
