"""What is known of a model adapter without importing it, and who it is as a producer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters.models import weights
from muniment.adapters.models.settings import ModelSettings, RoleSettings, Setup
from muniment.store.errors import MissingToolError
from muniment.store.ids import digest

if TYPE_CHECKING:
    from muniment.adapters.ports import Audit


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One adapter for one role.

    ``target`` is ``module:class``, called with (producer, setup). ``packages`` maps each
    distribution that it needs to its import name, the one that versions the adapter first, and
    ``weights`` those that only hold weights; ``version`` is set by adapters
    whose behaviour is their own rather than a package's. ``revision`` goes up when our code
    around a package changes what comes out.
    ``speaks`` says that the person's languages change what it produces, ``optional`` that reading
    does without it where its packages are absent.
    """

    role: str
    adapter: str
    target: str
    model: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, str] = field(default_factory=dict)
    version: str = ""
    revision: int = 1
    licence: str = ""
    megabytes: float = 0.0
    speed: str = ""
    remote: bool = False
    params: Mapping[str, Any] = field(default_factory=dict)
    speaks: bool = False
    optional: bool = False


def setup_of(spec: ModelSpec, settings: ModelSettings, audit: "Audit | None" = None) -> Setup:
    """Return what the adapter is made from: its own parameters, the person's laid over."""
    options = settings.role(spec.role)
    return Setup(
        role=spec.role,
        model=model_of(spec, options),
        params={**spec.params, **options.params},
        options=options,
        languages=settings.languages,
        threads=settings.threads,
        audit=audit,
    )


def model_of(spec: ModelSpec, options: RoleSettings) -> str:
    """Return the name of the model: as given, else of the file or folder, else the default."""
    return options.model or Path(options.path).name or spec.model


def identity(spec: ModelSpec, settings: ModelSettings) -> dict[str, str]:
    """Return the fields of the adapter's ``Producer``; loads neither the model nor its library.

    Whatever changes what the adapter produces is in it; threads, time limits and keys are not.
    """
    options = settings.role(spec.role)
    params: dict[str, Any] = {
        "params": {**spec.params, **options.params},
        "revision": spec.revision,
    }
    if spec.speaks:
        params["languages"] = sorted(settings.languages)
    if options.path:
        params["weights"] = weights.fingerprint(Path(options.path))
    if spec.remote:
        params["service"] = [options.base_url, dict(options.extra_body)]
    return {
        "adapter": spec.adapter,
        "version": spec.version or version_of(next(iter(spec.packages))) or "absent",
        "role": spec.role,
        "model": model_of(spec, options),
        "params_hash": digest(params),
    }


@lru_cache(maxsize=64)
def version_of(distribution: str) -> str:
    """Return the version of an installed distribution, or nothing."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def absent(spec: ModelSpec, options: RoleSettings) -> list[str]:
    """Return the distributions that are needed and not there; a given path replaces weights."""
    needed = dict(spec.packages) if options.path else {**spec.packages, **spec.weights}
    return [name for name, module in needed.items() if find_spec(module) is None]


def require(spec: ModelSpec, options: RoleSettings) -> None:
    """Raise ``MissingToolError`` naming what the adapter lacks."""
    lacking = absent(spec, options)
    if lacking:
        raise MissingToolError(
            f"the {spec.role} model needs {', '.join(lacking)}",
            hint="pip install " + " ".join(lacking),
        )


def row(role: str, spec: ModelSpec | None, settings: ModelSettings) -> dict[str, Any]:
    """Return what a person wants to know of a role: who serves it, where from, and whether."""
    if spec is None:
        hint = f"optional: name an adapter in [models.{role}]"
        return {"role": role, "adapter": None, "available": False, "hint": hint}
    options = settings.role(role)
    lacking = absent(spec, options)
    refused = spec.remote and settings.offline
    return {
        "role": role,
        "adapter": spec.adapter,
        "model": model_of(spec, options),
        "megabytes": spec.megabytes or None,
        "licence": spec.licence,
        "source": options.path or options.base_url or ", ".join({**spec.packages, **spec.weights}),
        "version": spec.version or version_of(next(iter(spec.packages))),
        "speed": spec.speed,
        "remote": spec.remote,
        "available": not lacking and not refused,
        "hint": f"pip install {' '.join(lacking)}" if lacking else "refused offline" * refused,
    }
