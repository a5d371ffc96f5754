"""How a repository's bytes are written down: as they are, or encrypted.

Encrypted, each object has a key of its own, derived (HKDF-SHA-256) from the repository's, the
object's name and a random salt. It is cut into chunks; a chunk's nonce is its number and whether
it is the last, so that none can be dropped, added, moved or taken from another object. The
repository's key is random and lies in ``repository.json``, encrypted under a key that scrypt
derives from the passphrase or key file.
"""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from muniment.store.errors import DamageError, MissingToolError, UsageError
from muniment.store.ports import Region

CHUNK_BYTES = 64 * 1024
READ_BYTES = 1024 * 1024
_MAGIC = b"MNE1"
_SALT_BYTES = 32
_HEADER_BYTES = len(_MAGIC) + _SALT_BYTES
_TAG_BYTES = 16
_NONCE_BYTES = 12
_KEY_BYTES = 32
# 64 MiB and about a quarter of a second a guess.
SCRYPT_N = 1 << 16
_SCRYPT = {"r": 8, "p": 1, "maxmem": 512 * 1024 * 1024, "dklen": _KEY_BYTES}
_LARGEST_SCRYPT_N = 1 << 20


@dataclass(frozen=True, slots=True)
class Secret:
    """What opens an encrypted repository: ``kind`` is ``passphrase`` or ``key_file``."""

    kind: str
    value: bytes


# One object, open: its plain size and bytes. Reading raises ``DamageError`` for what is damaged.
Reader = Region


class Codec(Protocol):
    """The way between bytes and what is written."""

    def name(self, digest: str) -> str:
        """Return the name of the object whose content has a SHA-256."""
        ...

    def stored_size(self, size: int) -> int:
        """Return the size of the file that holds so many bytes."""
        ...

    def encode(self, label: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield what to write for an object."""
        ...

    def reader(self, label: str, written: Region) -> Reader:
        """Open what was written for an object."""
        ...


class Plain:
    """Bytes as they are."""

    def name(self, digest: str) -> str:
        """Return the digest."""
        return digest

    def stored_size(self, size: int) -> int:
        """Return the size."""
        return size

    def encode(self, label: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the chunks."""
        yield from chunks

    def reader(self, label: str, written: Region) -> Reader:
        """Read what was written as it is."""
        return written


class Sealed:
    """Bytes encrypted and authenticated under the repository's key."""

    def __init__(self, key: bytes) -> None:
        self._names = _derive(key, b"", b"muniment names")
        self._objects = _derive(key, b"", b"muniment objects")

    def name(self, digest: str) -> str:
        """Return a keyed digest: a plain one of a short text could be guessed."""
        return hmac.new(self._names, digest.encode(), hashlib.sha256).hexdigest()

    def stored_size(self, size: int) -> int:
        """Return the size with header and tags; an empty object has one chunk, too."""
        chunks = max(1, -(-size // CHUNK_BYTES))
        return _HEADER_BYTES + size + chunks * _TAG_BYTES

    def encode(self, label: str, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the header and then one sealed chunk after the other."""
        salt = secrets.token_bytes(_SALT_BYTES)
        cipher = _cipher(_derive(self._objects, salt, label.encode()))
        yield _MAGIC + salt
        number, held = 0, b""
        for chunk in _of_size(chunks):
            if number:
                yield cipher.encrypt(_nonce(number - 1, last=False), held, None)
            number, held = number + 1, chunk
        yield cipher.encrypt(_nonce(max(number - 1, 0), last=True), held, None)

    def reader(self, label: str, written: Region) -> Reader:
        """Open an object; damage shows when the chunk in question is read."""
        header = written.read_at(0, _HEADER_BYTES)
        if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
            raise DamageError("it is not an encrypted object", code="object_damaged")
        key = _derive(self._objects, header[len(_MAGIC) :], label.encode())
        return _SealedReader(written, _cipher(key))


class _SealedReader:
    def __init__(self, written: Region, cipher: Any) -> None:
        self._written, self._cipher = written, cipher
        body = written.size - _HEADER_BYTES
        self._chunks = -(-body // (CHUNK_BYTES + _TAG_BYTES))
        self.size = body - self._chunks * _TAG_BYTES
        self._held: tuple[int, bytes] = (-1, b"")

    def read_at(self, offset: int, size: int) -> bytes:
        found = bytearray()
        end = min(offset + size, self.size)
        while offset < end:
            number, inside = divmod(offset, CHUNK_BYTES)
            piece = self._chunk(number)[inside : inside + end - offset]
            found += piece
            offset += len(piece)
        if not self.size:
            self._chunk(0)
        return bytes(found)

    def _chunk(self, number: int) -> bytes:
        from cryptography.exceptions import InvalidTag

        if self._held[0] != number:
            place = _HEADER_BYTES + number * (CHUNK_BYTES + _TAG_BYTES)
            sealed = self._written.read_at(place, CHUNK_BYTES + _TAG_BYTES)
            nonce = _nonce(number, last=number == self._chunks - 1)
            try:
                self._held = (number, self._cipher.decrypt(nonce, sealed, None))
            except (InvalidTag, ValueError):
                raise DamageError("it was changed or cut", code="object_damaged") from None
        return self._held[1]


def new_encryption(secret: Secret, identity: str) -> tuple[dict[str, Any], Sealed]:
    """Make a repository's key; return what ``repository.json`` says of it, and the codec."""
    key, salt = secrets.token_bytes(_KEY_BYTES), secrets.token_bytes(16)
    nonce = secrets.token_bytes(_NONCE_BYTES)
    wrapped = _cipher(_stretch(secret, salt, SCRYPT_N)).encrypt(nonce, key, identity.encode())
    said = {
        "cipher": "AES-256-GCM",
        "secret": secret.kind,
        "kdf": "scrypt",
        "n": SCRYPT_N,
        "salt": base64.b64encode(salt).decode(),
        "key": base64.b64encode(nonce + wrapped).decode(),
    }
    return said, Sealed(key)


def opened(said: dict[str, Any], secret: Secret | None, identity: str) -> Sealed:
    """Return the codec of an encrypted repository; raise ``UsageError`` for a wrong secret."""
    from_file = said.get("secret") == "key_file"
    option = "--key-file" if from_file else "--passphrase-file"
    if secret is None:
        raise UsageError(
            "the repository is encrypted", code="secret_needed", hint=f"give {option} FILE"
        )
    wrong = UsageError(
        "the repository does not open with this secret", code="wrong_secret", hint=f"see {option}"
    )
    if secret.kind != said.get("secret"):
        raise wrong
    try:
        cost = int(said["n"])
        salt, wrapped = (base64.b64decode(said[name], validate=True) for name in ("salt", "key"))
    except (KeyError, TypeError, ValueError):
        cost = 0
    if not 1 < cost <= _LARGEST_SCRYPT_N or cost & (cost - 1):
        raise DamageError("repository.json is not whole", code="repository_damaged")
    return Sealed(_unwrapped(_cipher(_stretch(secret, salt, cost)), wrapped, identity, wrong))


def _unwrapped(cipher: Any, wrapped: bytes, identity: str, wrong: UsageError) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        key: bytes = cipher.decrypt(
            wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], identity.encode()
        )
    except (InvalidTag, ValueError):
        raise wrong from None
    return key


def _stretch(secret: Secret, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(secret.value, salt=salt, n=cost, **_SCRYPT)


def _derive(key: bytes, salt: bytes, info: bytes) -> bytes:
    _require()
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=salt or None, info=info).derive(key)


def _cipher(key: bytes) -> Any:
    _require()
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)


def _require() -> None:
    try:
        import cryptography  # noqa: F401
    except ImportError:
        raise MissingToolError(
            "the library for encryption is not installed",
            code="missing_library",
            hint="install muniment[encrypt]",
        ) from None


def _nonce(number: int, *, last: bool) -> bytes:
    return number.to_bytes(_NONCE_BYTES - 1, "big") + (b"\x01" if last else b"\x00")


def _of_size(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in chunks of one size, the last one shorter."""
    held = bytearray()
    for chunk in chunks:
        held += chunk
        while len(held) >= CHUNK_BYTES:
            yield bytes(held[:CHUNK_BYTES])
            del held[:CHUNK_BYTES]
    if held:
        yield bytes(held)
