"""Settings: flags beat ``MUNIMENT_…`` variables, which beat the TOML file, which beats defaults.

Files found inside ingested folders are data and never read here.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.store.errors import UsageError
from muniment.store.ids import storable_or_none
from muniment.store.layout import Scope

if TYPE_CHECKING:
    from muniment.pipeline.machine import Watch

_BOOLEANS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
PROGRESS = ("auto", "always", "never")


@dataclass(frozen=True, slots=True)
class Option:
    """One setting: its type, its default and what it is for."""

    kind: type
    default: Any
    help: str


OPTIONS: dict[str, Option] = {
    "root": Option(str, None, "The directory that holds the store."),
    "tenant": Option(str, "local", "Tenant of the scope."),
    "user": Option(str, "me", "User of the scope."),
    "namespace": Option(str, "personal", "Namespace of the scope."),
    "agent": Option(str, None, "Agent that asks; kept as provenance."),
    "session": Option(str, None, "Session that this belongs to; kept as provenance."),
    "json": Option(bool, False, "Print exactly one JSON document."),
    "quiet": Option(bool, False, "Say nothing but the answer and errors."),
    "verbose": Option(bool, False, "Say more on stderr."),
    "progress": Option(str, "auto", "When to draw progress: auto, always or never."),
    "offline": Option(bool, False, "Refuse every remote adapter."),
    "lock_wait": Option(float, 0.0, "Seconds to wait for another process's lock."),
    "debug": Option(bool, False, "Show tracebacks."),
    "engine": Option(str, "local", "Where reading and embedding run: local, or ray."),
    "ray_address": Option(str, "auto", "The Ray cluster: HOST:PORT, or auto on one of its nodes."),
    "index": Option(str, "sqlite", "What keeps the search index: sqlite, or postgres."),
    "index_dsn": Option(
        str,
        None,
        "The PostgreSQL server of the index: postgresql://USER@HOST/DATABASE.",
    ),
    "jobs": Option(int, None, "Worker processes at most; as many as cores when not set."),
    "tier": Option(str, None, "Machine tier: full, standard or lite; by memory when not set."),
    "zone": Option(str, "UTC", "Zone that times without one sort by."),
    "me": Option(list, (), "Names that the user goes by in chats."),
    "languages": Option(list, ("en", "zh"), "Languages to expect, the likeliest first."),
    "tokenizer": Option(
        str,
        None,
        "What counts budgets: a tokenizer.json, cl100k_base, o200k_base, o200k_harmony or qwen3.5; "
        "an estimate if not set.",
    ),
    "coverage_threshold": Option(
        float,
        None,
        "Share of a question's weight that evidence must hold; 0 answers with anything.",
    ),
    "cache": Option(str, None, "Directory of what can be made again."),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Every effective setting with where it came from; ``tables`` holds ``[models.…]``."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    tables: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def root(self) -> Path:
        """The root directory."""
        return _directory(self.values["root"], "user_data_path")

    @property
    def cache(self) -> Path:
        """The directory of what can be made again."""
        return _directory(self.values["cache"], "user_cache_path")

    @property
    def scope(self) -> Scope:
        """The scope of this command."""
        return Scope(self["tenant"], self["user"], self["namespace"])

    @property
    def jobs(self) -> int:
        """How many workers may run at once: as said, else what the machine can bear now."""
        return self.values["jobs"] or self.watch.jobs()

    @property
    def watch(self) -> "Watch":
        """What the machine can bear, measured from here on."""
        from muniment.pipeline.machine import Watch

        return Watch(self["tier"])


def load(
    flags: Mapping[str, Any], environment: Mapping[str, str], config: str | None = None
) -> Settings:
    """Merge the sources; raise ``UsageError`` for an unknown name or an unfit value."""
    path = config or environment.get("MUNIMENT_CONFIG")
    table = _read_config(path)
    tables: dict[str, Any] = {
        name: table.pop(name) for name in ("models", "limits", "ray") if name in table
    }
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, option in OPTIONS.items():
        values[name], origins[name] = _resolve(name, option, flags, environment, table)
    for name in table.keys() - OPTIONS.keys():
        raise UsageError(
            f"unknown setting {name!r} in the configuration",
            code="bad_config",
            hint=_closest(name),
            path=path,
        )
    if values["progress"] not in PROGRESS:
        raise UsageError("progress is auto, always or never", code="bad_value")
    _check_machine(values)
    _names(values)
    return Settings(values, origins, tables)


def _check_machine(values: Mapping[str, Any]) -> None:
    """Refuse at once what only a command that starts workers would stumble over."""
    if values["jobs"] is not None and values["jobs"] < 1:
        raise UsageError(
            f"jobs can't be {values['jobs']}",
            code="bad_value",
            hint="a whole number from 1 on; MUNIMENT_JOBS, --jobs or jobs in the configuration",
        )
    if values["tier"]:
        from muniment.pipeline.machine import tier_named

        tier_named(values["tier"])


def _resolve(
    name: str,
    option: Option,
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    table: Mapping[str, Any],
) -> tuple[Any, str]:
    given = flags.get(name)
    if given is not None and given != ():
        return given, "flag"
    variable = "MUNIMENT_" + name.upper()
    if environment.get(variable):
        return _convert(variable, option, environment[variable]), "environment"
    if name in table:
        return _convert(name, option, table[name]), "config"
    return option.default, "default"


def _names(values: dict[str, Any]) -> None:
    """Make the names that are kept with what is taken in storable, whatever bytes were given.

    Raises ``UsageError`` for a root of such a name: SQLite opens no file there.
    """
    for name in ("agent", "session"):
        values[name] = storable_or_none(values[name])
    if values["root"] != storable_or_none(values["root"]):
        raise UsageError(
            "the path of the root is not UTF-8", code="bad_value", hint="name another folder",
            path=values["root"],
        )  # fmt: skip


def _convert(name: str, option: Option, value: Any) -> Any:
    try:
        if option.kind is bool:
            return value if isinstance(value, bool) else _BOOLEANS[str(value).lower()]
        if option.kind is list:
            parts = value.split(",") if isinstance(value, str) else value
            return tuple(str(part).strip() for part in parts)
        return option.kind(value)
    except (KeyError, TypeError, ValueError):
        raise UsageError(f"{name} can't be {value!r}", code="bad_value", hint=option.help) from None


def _read_config(path: str | None) -> dict[str, Any]:
    file = Path(path) if path else _default_config()
    if file is None:
        return {}
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(
            f"the configuration can't be read: {error.strerror}", code="bad_config", path=str(file)
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            f"the configuration is not valid TOML: {error}", code="bad_config", path=str(file)
        ) from error


def _default_config() -> Path | None:
    import platformdirs

    file = platformdirs.user_config_path("muniment") / "config.toml"
    return file if file.is_file() else None


def _directory(value: str | None, kind: str) -> Path:
    if value:
        return Path(value).expanduser().absolute()
    import platformdirs

    path: Path = getattr(platformdirs, kind)("muniment")
    return path


def _closest(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, OPTIONS, n=1)
    return f"did you mean {close[0]}?" if close else "see: muniment config"
