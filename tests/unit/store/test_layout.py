from pathlib import Path

import pytest

from muniment.store.errors import UsageError
from muniment.store.layout import Root, Scope


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "é", "a b", "a\n", "-" * 129, "a\0", "~\u202e"]
)
@pytest.mark.parametrize("part", ["tenant", "user", "namespace"])
def test_ids_that_could_leave_their_folder_are_refused(part: str, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        Scope(**{part: name})

    assert caught.value.code == "bad_scope"


@pytest.mark.parametrize("name", ["a", "-x", "...", ".hidden", "A_b-9.c", "x" * 128])
def test_ids_of_the_contract_are_taken(name: str) -> None:
    assert Scope(user=name).as_dict() == {
        "tenant": "local", "user": name, "namespace": "personal"
    }  # fmt: skip


def test_every_scope_has_a_folder_of_its_own() -> None:
    root = Root(Path("/r"))
    scopes = [
        Scope("a", "b", "c"),
        Scope("a", "c", "b"),
        Scope("b", "a", "c"),
        Scope("c", "b", "a"),
    ]

    assert len({root.scope(scope).path for scope in scopes}) == len(scopes)
    assert root.scope(scopes[0]).ledger == Path(
        "/r/store/tenants/a/users/b/namespaces/c/ledger.sqlite3"
    )


def test_a_large_asset_lies_under_the_first_two_digits_of_its_hash() -> None:
    paths = Root(Path("/r")).scope(Scope())

    assert paths.asset("sha256:ab" + "0" * 62) == paths.assets / "ab" / ("ab" + "0" * 62)
