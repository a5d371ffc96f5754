"""Adapters of other packages: found by entry points, checked, and skipped when broken."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypeAlias

from muniment.adapters.models.specs import ModelSpec
from muniment.adapters.ports import ReaderSpec

GROUP = "muniment.adapters"

Spec: TypeAlias = ReaderSpec | ModelSpec


@dataclass(frozen=True, slots=True)
class ThirdParty:
    """What other packages bring, and (entry point, reason) of each that can't be used."""

    specs: tuple[Spec, ...]
    broken: tuple[tuple[str, str], ...]


def find_third_party(taken: Iterable[Any]) -> ThirdParty:
    """Load the entry points of the group; ``taken`` names may not be used again.

    An entry point names one ``ReaderSpec`` or ``ModelSpec``, or several in a tuple.
    """
    names = set(taken)
    specs: list[Spec] = []
    broken: list[tuple[str, str]] = []
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point: point.name):
        try:
            found = _specs(point.load(), names)
        except Exception as error:  # other people's code may raise anything at its import
            broken.append((point.name, f"{type(error).__name__}: {error}"))
        else:
            names.update(_name(spec) for spec in found)
            specs.extend(found)
    return ThirdParty(tuple(specs), tuple(broken))


def _specs(named: Any, taken: set[Any]) -> tuple[Spec, ...]:
    specs = named if isinstance(named, tuple) else (named,)
    for spec in specs:
        if not isinstance(spec, ReaderSpec | ModelSpec):
            raise TypeError(f"{type(spec).__name__} is neither a ReaderSpec nor a ModelSpec")
        if _name(spec) in taken:
            raise ValueError(f"the name {_name(spec)!r} is taken")
    return specs


def _name(spec: Spec) -> Any:
    return spec.name if isinstance(spec, ReaderSpec) else (spec.role, spec.adapter)
