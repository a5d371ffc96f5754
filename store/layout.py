"""Where everything lies inside a root (CONTRACT 8, DESIGN decision 2).

::

    root/
      muniment.json            the manifest: what this is, which version
      lock                     shared by normal operations, alone for migrate and restore
      tmp/                     temporary files; nothing in it is ever authoritative
      backups/                 notes on the repositories that the store was backed up to
      store/forget.key         the secret key of the forget lists
      store/tenants/{t}/users/{u}/
        user.sqlite3           personas, which span namespaces
        user.lock              one writer a user's file
      store/tenants/{t}/users/{u}/namespaces/{n}/
        writer.lock            one writer a scope
        index.lock             one index refresh a scope
        ledger.sqlite3         the authority
        access.sqlite3         what was recalled how often; losing it loses no claim
        policy.toml            what may become memory by itself, written by the user
        assets/sha256/ab/...   assets over 64 KiB, unless the manifest names an object store
        cache/                 what was fetched from that; it may go at any time
        index/gen-N/           rebuildable
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

from muniment.store.errors import UsageError

_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(frozen=True, slots=True)
class Scope:
    """The identity boundary of every operation."""

    tenant: str = "local"
    user: str = "me"
    namespace: str = "personal"

    def __post_init__(self) -> None:
        for name in ("tenant", "user", "namespace"):
            value = getattr(self, name)
            if not _ID.fullmatch(value) or value in {".", ".."}:
                raise UsageError(
                    f"{name} {value!r} is not a valid id",
                    code="bad_scope",
                    hint="use 1 to 128 of letters, digits, dot, dash and underscore",
                )

    @classmethod
    def at(cls, folder: Path) -> "Scope":
        """Return the scope that a folder ``tenants/T/users/U/namespaces/N`` is of."""
        return cls(folder.parts[-5], folder.parts[-3], folder.parts[-1])

    def as_dict(self) -> dict[str, str]:
        """Return the three ids by name."""
        return {"tenant": self.tenant, "user": self.user, "namespace": self.namespace}


@dataclass(frozen=True, slots=True)
class Root:
    """The paths of one root directory; ``offline`` forbids to ask an object store for assets."""

    path: Path
    offline: bool = field(default=False, compare=False)

    @property
    def manifest(self) -> Path:
        """The manifest file."""
        return self.path / "muniment.json"

    @property
    def lock(self) -> Path:
        """The root lock."""
        return self.path / "lock"

    @property
    def journal(self) -> Path:
        """The journal of an unfinished restore."""
        return self.path / "journal"

    @property
    def temporary(self) -> Path:
        """The folder for files that are not whole yet."""
        return self.path / "tmp"

    @property
    def backups(self) -> Path:
        """The notes on where the store was backed up to."""
        return self.path / "backups"

    @property
    def store(self) -> Path:
        """The folder that a restore swaps."""
        return self.path / "store"

    @property
    def forget_key(self) -> Path:
        """The secret key of the forget lists; it travels with every backup."""
        return self.store / "forget.key"

    def scope(self, scope: Scope) -> "ScopePaths":
        """Return the paths of one scope."""
        return ScopePaths(self.user(scope).path / "namespaces" / scope.namespace)

    def user(self, scope: Scope) -> "UserPaths":
        """Return the paths of what a user has in every namespace."""
        return UserPaths(self.store / "tenants" / scope.tenant / "users" / scope.user)


@dataclass(frozen=True, slots=True)
class UserPaths:
    """The paths of one user."""

    path: Path

    @property
    def database(self) -> Path:
        """The user's own file: personas."""
        return self.path / "user.sqlite3"

    @property
    def writer_lock(self) -> Path:
        """The lock of the file's one writer."""
        return self.path / "user.lock"


@dataclass(frozen=True, slots=True)
class ScopePaths:
    """The paths of one scope."""

    path: Path

    @property
    def ledger(self) -> Path:
        """The authority."""
        return self.path / "ledger.sqlite3"

    @property
    def access(self) -> Path:
        """How often records were recalled."""
        return self.path / "access.sqlite3"

    @property
    def policy(self) -> Path:
        """The user's policy of what may become memory by itself."""
        return self.path / "policy.toml"

    @property
    def assets(self) -> Path:
        """The folder of large assets."""
        return self.path / "assets" / "sha256"

    @property
    def cache(self) -> Path:
        """The folder of what was fetched from a remote asset store; it may go at any time."""
        return self.path / "cache"

    @property
    def index(self) -> Path:
        """The folder of index generations."""
        return self.path / "index"

    @property
    def writer_lock(self) -> Path:
        """The lock of the one writer."""
        return self.path / "writer.lock"

    @property
    def index_lock(self) -> Path:
        """The lock of the one index refresh."""
        return self.path / "index.lock"

    def asset(self, asset: str) -> Path:
        """Return where a large asset lies."""
        return Path(self.asset_name(asset))

    def asset_name(self, asset: str) -> str:
        """Return the same as text: to look at a file costs less than to make its ``Path``."""
        digest = asset.removeprefix("sha256:")
        return f"{self.path}/assets/sha256/{digest[:2]}/{digest}"
