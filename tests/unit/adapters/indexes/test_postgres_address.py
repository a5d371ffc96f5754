import pytest

from muniment.adapters.indexes.postgres.address import parse, shown
from muniment.adapters.indexes.postgres.conditions import conditions
from muniment.adapters.indexes.postgres.writing import numbers, texts
from muniment.store.errors import UsageError
from muniment.store.index.documents import Filters


def test_an_address_is_taken_apart() -> None:
    found = parse("postgresql://me:a%40b@db.example:6000/memory?sslrootcert=/ca.pem")
    assert (found.user, found.password, found.host, found.port) == ("me", "a@b", "db.example", 6000)
    assert (found.database, found.tls, found.authority) == ("memory", "verify-full", "/ca.pem")
    assert not found.is_local


def test_a_password_may_come_from_elsewhere_and_is_not_repeated() -> None:
    found = parse("postgresql://me@localhost/db", "quiet")
    assert (found.password, found.tls, found.is_local) == ("quiet", "prefer", True)
    assert "quiet" not in repr(found)
    assert parse("postgresql://me:own@localhost/db", "quiet").password == "own"


def test_a_socket_needs_no_host() -> None:
    found = parse("postgresql://me@/db?host=/run/postgresql")
    assert found.arguments()["unix_sock"] == "/run/postgresql/.s.PGSQL.5432"
    assert found.is_local


@pytest.mark.parametrize(
    ("mode", "context"), [("disable", False), ("prefer", None), ("require", "verified")]
)
def test_a_server_elsewhere_is_spoken_to_as_told(mode: str, context: object) -> None:
    made = parse(f"postgresql://me@db.example/db?sslmode={mode}").arguments()["ssl_context"]
    assert made.check_hostname if context == "verified" else made is context


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:secret@host/db",
        "postgresql://me:sec@secret@host/db",
        "postgresql://me@host/db?password=secret&sslmode=require",
    ],
)
def test_an_address_is_shown_without_its_password(address: str) -> None:
    assert "secret" not in shown(address)
    assert "me" in shown(address)
    assert "host/db" in shown(address)


def test_an_error_does_not_repeat_the_password() -> None:
    with pytest.raises(UsageError) as caught:
        parse("mysql://me:secret@host/db")
    assert "secret" not in caught.value.message + caught.value.hint


def test_filters_are_bound_and_never_written_into_a_statement() -> None:
    where, values = conditions(Filters(kinds=("x' OR 1=1 --",), path="a\0\udce9"))
    assert "OR" not in where
    assert values == {"kinds": ["x' OR 1=1 --"], "path": "a␀?"}


def test_arrays_keep_every_character() -> None:
    assert texts(["a", 'b"c', "d\\e", "f,g"]) == '{"a","b\\"c","d\\\\e","f,g"}'
    assert numbers([1, -2]) == "{1,-2}"
