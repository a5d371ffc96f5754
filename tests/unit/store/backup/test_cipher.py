import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from muniment.store.backup import cipher
from muniment.store.backup.cipher import CHUNK_BYTES, Reader, Sealed, Secret
from muniment.store.backup.local import FileRegion
from muniment.store.errors import DamageError, MissingToolError, UsageError

pytest.importorskip("cryptography")
KEY = bytes(range(32))
SIZES = [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES]
PASSPHRASE = Secret("passphrase", b"correct horse")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cipher, "SCRYPT_N", 1 << 10)


@contextmanager
def stored(data: bytes) -> Iterator[FileRegion]:
    with tempfile.TemporaryFile() as stream:
        stream.write(data)
        stream.flush()
        yield FileRegion(stream)


def sealed(data: bytes, label: str = "one") -> bytes:
    stream = io.BytesIO(data)
    return b"".join(Sealed(KEY).encode(label, iter(lambda: stream.read(50_000), b"")))


def everything(reader: Reader) -> bytes:
    return reader.read_at(0, reader.size)


@pytest.mark.parametrize("size", SIZES)
def test_what_was_sealed_is_read_back_and_has_the_size_that_was_told(size: int) -> None:
    data = bytes(n % 251 for n in range(size))

    with stored(sealed(data)) as stream:
        reader = Sealed(KEY).reader("one", stream)

        assert everything(reader) == data
    assert len(sealed(data)) == Sealed(KEY).stored_size(size)


def test_any_place_can_be_read_by_itself() -> None:
    data = bytes(n % 251 for n in range(3 * CHUNK_BYTES))

    with stored(sealed(data)) as stream:
        reader = Sealed(KEY).reader("one", stream)

        for start in (0, 5, CHUNK_BYTES - 3, 2 * CHUNK_BYTES + 7):
            assert reader.read_at(start, 1000) == data[start : start + 1000]


def test_the_same_bytes_are_never_written_the_same_way_twice() -> None:
    assert sealed(b"again") != sealed(b"again")


@pytest.mark.parametrize("place", [0, 20, 40, 80])
def test_a_flipped_bit_is_told(place: int) -> None:
    data = bytearray(sealed(b"a" * 100))
    data[place] ^= 1

    with stored(bytes(data)) as stream, pytest.raises(DamageError):
        everything(Sealed(KEY).reader("one", stream))


@pytest.mark.parametrize("cut", [1, CHUNK_BYTES + 16])
def test_a_cut_end_is_told(cut: int) -> None:
    data = sealed(b"a" * (2 * CHUNK_BYTES))

    with stored(data[:-cut]) as stream, pytest.raises(DamageError):
        everything(Sealed(KEY).reader("one", stream))


def test_an_object_in_the_place_of_another_is_told() -> None:
    with stored(sealed(b"yes", "one")) as stream, pytest.raises(DamageError):
        everything(Sealed(KEY).reader("two", stream))


def test_names_are_keyed() -> None:
    assert Sealed(KEY).name("ab" * 32) != Sealed(KEY[::-1]).name("ab" * 32)


def test_only_the_secret_that_made_it_opens_a_repository() -> None:
    said, codec = cipher.new_encryption(PASSPHRASE, "id")

    assert cipher.opened(said, PASSPHRASE, "id").name("x") == codec.name("x")
    for secret in (Secret("passphrase", b"wrong"), Secret("key_file", PASSPHRASE.value)):
        with pytest.raises(UsageError) as caught:
            cipher.opened(said, secret, "id")
        assert caught.value.code == "wrong_secret"
    with pytest.raises(UsageError) as caught:
        cipher.opened(said, None, "id")
    assert caught.value.code == "secret_needed"


@pytest.mark.parametrize("change", [{"n": 1 << 40}, {"n": "x"}, {"salt": "?"}, {"key": None}])
def test_a_header_that_was_tampered_with_is_refused(change: dict[str, object]) -> None:
    said, _ = cipher.new_encryption(PASSPHRASE, "id")

    with pytest.raises(DamageError):
        cipher.opened(said | change, PASSPHRASE, "id")


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cryptography", None)

    with pytest.raises(MissingToolError) as caught:
        Sealed(KEY)

    assert "muniment[encrypt]" in caught.value.hint
