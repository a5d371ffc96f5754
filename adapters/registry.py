"""Which readers and models there are: with the two catalogs, the one place that names them.

Everything is named by ``module:object`` and imported when it is asked for, so that listing,
choosing and fingerprinting cost nothing. Of the store, this file uses its digests (``store.ids``)
besides the record types: fingerprints of producers must be the ledger's own.
"""

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from muniment.adapters.catalog import READERS
from muniment.adapters.models.catalog import MODELS
from muniment.adapters.models.settings import NONE, ROLES, ModelSettings
from muniment.adapters.models.specs import ModelSpec, absent, identity, require, row, setup_of
from muniment.adapters.ports import ReaderSpec
from muniment.adapters.third_party import ThirdParty, find_third_party
from muniment.store.errors import MissingToolError, StateError, UsageError
from muniment.store.ids import digest

if TYPE_CHECKING:
    from muniment.adapters.ports import Audit, Reader
    from muniment.store.records import Producer

# --- readers -----------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _third_party() -> ThirdParty:
    taken = {reader.name for reader in READERS} | {(m.role, m.adapter) for m in MODELS}
    return find_third_party(taken)


def readers() -> tuple[ReaderSpec, ...]:
    """Return every reader, built-in ones first."""
    others = (spec for spec in _third_party().specs if isinstance(spec, ReaderSpec))
    return (*READERS, *others)


def readers_for(family: str) -> tuple[ReaderSpec, ...]:
    """Return the readers that take assets of a family."""
    return tuple(spec for spec in readers() if family in spec.families)


def broken() -> tuple[tuple[str, str], ...]:
    """Return (name, reason) of each third-party entry point that was skipped."""
    return _third_party().broken


def load(spec: ReaderSpec) -> "Reader":
    """Import and make a reader; ``MissingToolError`` when its library is absent."""
    reader: Reader = _imported(spec.target, spec.name)()
    return reader


def fingerprint(spec: ReaderSpec, models: ModelSettings) -> str:
    """Return the digest of what decides a reader's findings: itself and the models it asks.

    A role without an adapter, or refused offline, counts as such: when that changes, the reader
    has something new to find.
    """
    return digest(spec.name, spec.version, [_role_fingerprint(role, models) for role in spec.roles])


def _role_fingerprint(role: str, models: ModelSettings) -> str:
    spec = model_spec(role, models)
    if spec is None or (spec.remote and models.offline):
        return f"{role}: none"
    return digest(identity(spec, models))


def _imported(target: str, name: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise MissingToolError(
            f"the adapter {name} can't be loaded: {error}", hint="see: muniment doctor"
        ) from error


# --- models ------------------------------------------------------------------------------------


def model_specs() -> tuple[ModelSpec, ...]:
    """Return every model adapter, the default of each role first."""
    others = (spec for spec in _third_party().specs if isinstance(spec, ModelSpec))
    return (*MODELS, *others)


def model_spec(role: str, models: ModelSettings) -> ModelSpec | None:
    """Return the adapter chosen for a role, its local default, or null; ``UsageError`` if unknown.

    A remote adapter is never a default. An optional one counts only where its packages are.
    """
    spec = _chosen(role, models)
    lacking = spec is not None and spec.optional and absent(spec, models.role(role))
    return None if lacking else spec


def _chosen(role: str, models: ModelSettings) -> ModelSpec | None:
    if role not in ROLES:
        raise UsageError(f"there is no model role {role!r}")
    named = models.role(role).adapter
    fitting = [spec for spec in model_specs() if spec.role == role]
    for spec in fitting:
        if spec.adapter == named or (not named and not spec.remote):
            return spec
    if named == NONE and any(spec.optional for spec in fitting):
        return None
    if named:
        known = ", ".join(spec.adapter for spec in fitting) or "none yet"
        raise UsageError(f"models.{role}.adapter can't be {named!r}", hint=f"known: {known}")
    return None


def model(role: str, models: ModelSettings, audit: "Audit | None" = None) -> Any:
    """Load the model of a role; its producer is what ``producer`` returns.

    Raises ``MissingToolError`` when a part is absent or no adapter is configured, ``StateError``
    (``offline``) when it is remote and must not be, ``DamageError`` when weights are not the
    published ones.
    """
    spec = _required(role, models)
    if spec.remote and models.offline:
        raise StateError(
            f"the {role} model is remote and --offline refuses it",
            code="offline",
            hint=f"run without --offline, or change [models.{role}]",
        )
    require(spec, models.role(role))
    made = _imported(spec.target, spec.adapter)
    return made(producer(role, models), setup_of(spec, models, audit))


def producer(role: str, models: ModelSettings) -> "Producer":
    """Return who would produce for a role, without loading the model."""
    from muniment.store.records import Producer

    return Producer(**identity(_required(role, models), models))


def _required(role: str, models: ModelSettings) -> ModelSpec:
    spec = model_spec(role, models)
    if spec is None:
        raise MissingToolError(
            f"no adapter is configured for {role}", hint=f"name one in [models.{role}]"
        )
    return spec


def describe_models(models: ModelSettings) -> list[dict[str, Any]]:
    """Return one row a role for ``doctor``: what serves it, where from, and whether it can."""
    return [row(role, _chosen(role, models), models) for role in ROLES]
