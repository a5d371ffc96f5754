"""What a person may choose about models, as plain values that cross process borders."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from muniment.store.errors import UsageError

if TYPE_CHECKING:
    from muniment.adapters.ports import Audit

ROLES = (
    "ocr",
    "transcribe",
    "embed",
    "embed_image",
    "describe",
    "label",
    "chat",
    "detect_speech",
    "identify_language",
)
REMOTE = "openai"
# The name of no adapter: it switches a role off that may be absent.
NONE = "none"
# Machine tiers from the greatest down, for models that only a greater machine bears.
TIERS = ("full", "standard", "lite")
# Vectors of two models can't be compared: such a model is never exchanged with the memory at hand.
_ONE_SPACE = {"embed", "embed_image"}


@dataclass(frozen=True, slots=True)
class RoleSettings:
    """One ``[models.ROLE]`` table of the configuration.

    ``timeout`` is in seconds and bounds one attempt as a whole. ``extra_body`` is sent exactly as
    given. ``params`` replace the adapter's own by name. ``trust_env`` lets proxies named in the
    environment be used. ``tier`` is the least machine tier that the model is used on.
    """

    adapter: str = ""
    path: str = ""
    base_url: str = ""
    model: str = ""
    api_key_env: str = ""
    timeout: float = 120.0
    max_concurrency: int = 4
    trust_env: bool = False
    tier: str = ""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "timeout": ((int, float), "a number of seconds"),
    "max_concurrency": ((int,), "a whole number"),
    "trust_env": ((bool,), "true or false"),
    "extra_body": ((dict,), "a table"),
    "params": ((dict,), "a table"),
}
_FAR = 1_000_000
_TEXT: tuple[tuple[type, ...], str] = ((str,), "text")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The models to use: overrides by role, the person's languages, threads per model.

    ``preferred`` is what was chosen, where the machine does not bear all of it at this moment.
    """

    roles: Mapping[str, RoleSettings] = field(default_factory=dict)
    offline: bool = False
    languages: tuple[str, ...] = ("en", "zh")
    threads: int = 1
    preferred: "ModelSettings | None" = None

    def role(self, role: str) -> RoleSettings:
        """Return the choices for a role, empty ones where none were made."""
        return self.roles.get(role, RoleSettings())

    @classmethod
    def from_config(cls, tables: Mapping[str, Any], **others: Any) -> Self:
        """Read the ``models`` table of a configuration; ``UsageError`` names what is wrong."""
        return cls(
            roles={role: _role_settings(role, table) for role, table in tables.items()}, **others
        )

    def borne_by(self, tier: str) -> Self:
        """Return the models of a machine of this tier.

        A role whose model asks for a higher one is served by its packaged default, or by none.
        """
        at = TIERS.index(tier)
        borne = {
            role: chosen
            for role, chosen in self.roles.items()
            if not chosen.tier or at <= TIERS.index(chosen.tier)
        }
        if len(borne) == len(self.roles):
            return self
        return replace(self, roles=borne, preferred=self)

    def waiting(self) -> dict[str, str]:
        """Return role -> tier of the chosen models that the machine does not bear now."""
        chosen = self.preferred.roles if self.preferred else {}
        return {role: one.tier for role, one in chosen.items() if role not in self.roles}


@dataclass(frozen=True, slots=True)
class Setup:
    """All that one adapter is made from: ``params`` are its own with the person's laid over."""

    role: str
    model: str
    params: Mapping[str, Any]
    options: RoleSettings
    languages: tuple[str, ...] = ("en", "zh")
    threads: int = 1
    audit: "Audit | None" = None


def _role_settings(role: str, table: Any) -> RoleSettings:
    if role not in ROLES:
        raise UsageError(f"[models.{role}] names no role; roles are {', '.join(ROLES)}")
    if not isinstance(table, Mapping):
        raise UsageError(f"models.{role} must be a table")
    known = {item.name for item in fields(RoleSettings)}
    for key, value in table.items():
        if key not in known:
            raise UsageError(f"models.{role}.{key} is not a setting")
        _check(role, key, value)
    settings = RoleSettings(**table)
    if settings.base_url and not settings.adapter:
        return RoleSettings(**{**table, "adapter": REMOTE})
    return settings


def _check(role: str, key: str, value: Any) -> None:
    kinds, said = _KINDS.get(key, _TEXT)
    wrong_bool = isinstance(value, bool) and bool not in kinds
    if wrong_bool or not isinstance(value, kinds):
        raise UsageError(f"models.{role}.{key} must be {said}")
    if isinstance(value, int | float) and key != "trust_env" and not 0 < value < _FAR:
        raise UsageError(f"models.{role}.{key} must be above 0 and below {_FAR}")
    if key == "tier":
        _check_tier(role, str(value))
    if key == "base_url" and not _is_http(str(value)):
        raise UsageError(f"models.{role}.base_url must be an http or https address")


def _check_tier(role: str, tier: str) -> None:
    if tier not in TIERS:
        raise UsageError(f"models.{role}.tier must be one of: {', '.join(TIERS)}")
    if role in _ONE_SPACE:
        raise UsageError(f"models.{role} can't depend on the tier: its vectors belong to one model")


def _is_http(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
