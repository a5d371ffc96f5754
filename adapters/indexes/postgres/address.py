"""Where the server is: a ``postgresql://`` address taken apart, and shown without its password."""

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from muniment.store.errors import UsageError

_PORT = 5432
_SCHEMES = {"postgresql", "postgres"}
_MODES = ("disable", "prefer", "require", "verify-full")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_PASSWORD = re.compile(r"(//[^:/@]*:).*(?=@)|([?&]password=)[^&]*")
_HINT = "postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full, or ?host=/SOCKET/FOLDER"


@dataclass(frozen=True, slots=True)
class Address:
    """A server and a database on it; ``socket`` is the folder of a Unix socket."""

    user: str
    database: str
    host: str | None = None
    socket: str | None = None
    port: int = _PORT
    password: str | None = field(default=None, repr=False)
    tls: str = "prefer"
    authority: str | None = None

    @property
    def is_local(self) -> bool:
        """Tell whether nothing leaves this machine on the way there."""
        return self.socket is not None or self.host in _LOOPBACK

    def arguments(self) -> dict[str, Any]:
        """Return what the driver connects with."""
        found: dict[str, Any] = {
            "user": self.user, "database": self.database, "password": self.password,
        }  # fmt: skip
        if self.socket is not None:
            return found | {"unix_sock": f"{self.socket}/.s.PGSQL.{self.port}"}
        return found | {"host": self.host, "port": self.port, "ssl_context": self._tls()}

    def _tls(self) -> Any:
        if self.tls in {"disable", "prefer"}:
            return False if self.tls == "disable" else None
        import ssl

        return ssl.create_default_context(cafile=self.authority)


def parse(text: str, password: str | None = None) -> Address:
    """Take an address apart; ``password`` is used where the address has none.

    Raises ``UsageError``, which never repeats a password. A server on another machine is spoken to
    over TLS with a verified certificate unless ``sslmode`` says otherwise.
    """
    try:
        parts = urlsplit(text)
        port = parts.port or _PORT
    except ValueError:
        raise _wrong("it is no address") from None
    if parts.scheme not in _SCHEMES:
        raise _wrong("it has to begin with postgresql://")
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    socket = options.get("host")
    if socket is None and not parts.hostname:
        raise _wrong("it names no host")
    local = socket is not None or parts.hostname in _LOOPBACK
    tls = options.get("sslmode", "prefer" if local else "verify-full")
    if tls not in _MODES:
        raise _wrong(f"sslmode is one of {', '.join(_MODES)}")
    user = unquote(parts.username or options.get("user", ""))
    if not user:
        raise _wrong("it names no user")
    given = unquote(parts.password) if parts.password else password
    return Address(
        user, unquote(parts.path.strip("/")) or user, parts.hostname if socket is None else None,
        socket, port, given, tls, options.get("sslrootcert"),
    )  # fmt: skip


def shown(text: str) -> str:
    """Return an address without its password.

    >>> shown("postgresql://me:secret@host/db")
    'postgresql://me:***@host/db'
    """
    return _PASSWORD.sub(lambda found: f"{found[1] or found[2]}***", text)


def _wrong(why: str) -> UsageError:
    return UsageError(f"index_dsn can't be used: {why}", code="bad_value", hint=_HINT)
