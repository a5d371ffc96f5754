"""What the commands on backup repositories share: where one lies, and what opens it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muniment.store.errors import UsageError

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.backup.cipher import Secret
    from muniment.store.backup.repository import Repository

Function = TypeVar("Function", bound=Callable[..., Any])
SAMPLE = "n/t|x%|SIZE"  # such as 2/7, 5% and 500M
time_limit = click.option(
    "--time-limit", type=click.FloatRange(min=0), metavar="SECONDS", help="Stop after this long."
)
_LEAST_KEY_BYTES = 32
_STEP = 1024

_OPTIONS = (
    click.option("--passphrase-file", metavar="FILE", envvar="MUNIMENT_PASSPHRASE_FILE",
                 help="File with the passphrase of an encrypted repository."),
    click.option("--key-file", metavar="FILE", envvar="MUNIMENT_KEY_FILE",
                 help="File whose bytes (32 or more) open an encrypted repository."),
)  # fmt: skip


def secret_options(function: Function) -> Function:
    """Add the options that name a passphrase or key file; neither is ever an argument itself."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def secret_of(passphrase_file: str | None, key_file: str | None) -> "Secret | None":
    """Read the secret; null where none was named."""
    if passphrase_file and key_file:
        raise UsageError("give a passphrase or a key file, not both", code="two_secrets")
    named = passphrase_file or key_file
    if not named:
        return None
    from muniment.store.backup.cipher import Secret

    if named == "-":
        raise UsageError(
            "a secret is not read from standard input", code="bad_secret", hint="name a file"
        )
    try:
        value = Path(named).expanduser().read_bytes()
    except OSError as error:
        raise UsageError(
            f"the secret can't be read: {error.strerror}", code="bad_secret", path=named
        ) from error
    if key_file:
        return Secret("key_file", _long_enough(value, _LEAST_KEY_BYTES, named))
    return Secret("passphrase", _long_enough(value.rstrip(b"\r\n"), 1, named))


def _long_enough(value: bytes, least: int, path: str) -> bytes:
    if len(value) < least:
        raise UsageError(f"the secret has fewer than {least} bytes", code="bad_secret", path=path)
    return value


def place(destination: str) -> Path | str:
    """Return where a repository is meant to lie: a folder, or the address of an object store.

    Raises ``UsageError`` for an object store when the command is to stay offline.
    """
    from muniment.store.asset_places import is_remote

    if not is_remote(destination):
        return Path(destination).expanduser().absolute()
    if _offline():
        raise UsageError(
            f"{destination} is not asked: offline", code="offline", hint="leave --offline out"
        )
    return destination


def _offline() -> bool:
    from muniment.pipeline.options import Session

    context = click.get_current_context(silent=True)
    session = None if context is None else context.find_object(Session)
    return session is not None and bool(session.settings["offline"])


def opened(destination: str, passphrase_file: str | None, key_file: str | None) -> "Repository":
    """Open the repository that the arguments name."""
    from muniment.store.backup.repository import Repository

    return Repository.open(place(destination), secret_of(passphrase_file, key_file))


def remember(
    session: "Session", repository: "Repository", kind: str, document: dict[str, Any], outcome: str
) -> None:
    """Let the store remember a backup or drill; where that can't be written it is warned of."""
    from muniment.store.backup import notes
    from muniment.store.errors import MunimentError

    said = {
        "repository": repository.place.name, "encrypted": repository.encrypted,
        "snapshot": document["snapshot"], outcome: document[outcome],
    }  # fmt: skip
    try:
        notes.note(session.workspace().root, kind, repository.id, said)
    except MunimentError as error:
        session.output.warn(f"the root does not remember this {kind}: {error.message}")


def verdict(damaged: bool, complete: bool) -> str:
    """Say in words what a check came to."""
    if damaged:
        return "damage found"
    return "all good" if complete else "no damage found; the time limit left some unread"


def sized(count: int) -> str:
    """Write a number of bytes for a person."""
    size, units = float(count), ["KiB", "MiB", "GiB", "TiB"]
    if size < _STEP:
        return f"{count} B"
    while size >= _STEP and units:
        size, unit = size / _STEP, units.pop(0)
    return f"{size:.1f} {unit}"
