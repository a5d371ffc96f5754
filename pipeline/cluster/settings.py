"""What a person may choose about a cluster: where it is, and what each stage needs of a node."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muniment.pipeline.stages.bounds import parse_size
from muniment.store.errors import UsageError

if TYPE_CHECKING:
    from muniment.pipeline.settings import Settings

# What runs on nodes: the lanes of reading that are not light, and the making of vectors.
STAGES = ("parse", "ocr", "transcribe", "embed")
ENGINES = ("local", "ray")
RETRIES = 3
WAIT_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Needs:
    """What one call of a stage takes of a node: cores, graphics processors, bytes of memory."""

    cpus: float = 1.0
    gpus: float = 0.0
    memory: int = 0

    def fit(self, resources: Mapping[str, float]) -> int:
        """Return how many such calls a node with these resources bears at once."""
        asked = {"CPU": self.cpus, "GPU": self.gpus, "memory": float(self.memory)}
        shares = [resources.get(name, 0.0) / most for name, most in asked.items() if most]
        return int(min(shares)) if shares else 1


@dataclass(frozen=True, slots=True)
class ClusterSettings:
    """``ray_address`` and the ``[ray]`` table of the configuration.

    ``retries`` bounds how often a call is made again after its node or process was lost,
    ``wait_seconds`` how long a run waits for a node that can bear what a stage needs.
    """

    address: str = "auto"
    retries: int = RETRIES
    wait_seconds: float = WAIT_SECONDS
    needs: Mapping[str, Needs] = field(default_factory=dict)

    def needs_of(self, stage: str) -> Needs:
        """Return what a stage takes; one core where nothing was said."""
        return self.needs.get(stage, Needs())


def is_clustered(settings: "Settings") -> bool:
    """Tell whether the settings name a cluster; ``UsageError`` for an engine there is not."""
    engine = settings["engine"]
    if engine not in ENGINES:
        raise UsageError(
            f"there is no engine {engine!r}", code="bad_value", hint=f"use: {', '.join(ENGINES)}"
        )
    return bool(engine == "ray")


def cluster_of(settings: "Settings") -> ClusterSettings:
    """Read the settings of the cluster; ``UsageError`` names what is wrong."""
    table = dict(settings.tables.get("ray", {}))
    needs = {stage: _needs(stage, table.pop(stage)) for stage in STAGES if stage in table}
    retries = _number("retries", table.pop("retries", RETRIES))
    wait = _number("wait_seconds", table.pop("wait_seconds", WAIT_SECONDS))
    for name in table:
        known = ", ".join(("retries", "wait_seconds", *STAGES))
        raise UsageError(f"ray.{name} is not a setting", code="bad_config", hint=f"known: {known}")
    return ClusterSettings(settings["ray_address"], int(retries), wait, needs)


def _needs(stage: str, table: Any) -> Needs:
    if not isinstance(table, Mapping):
        raise UsageError(f"ray.{stage} must be a table", code="bad_config")
    for name in table.keys() - set(Needs.__slots__):
        raise UsageError(
            f"ray.{stage}.{name} is not a setting", code="bad_config",
            hint=f"known: {', '.join(Needs.__slots__)}",
        )  # fmt: skip
    cpus = _number(f"{stage}.cpus", table.get("cpus", 1))
    gpus = _number(f"{stage}.gpus", table.get("gpus", 0))
    memory = table.get("memory", 0)
    return Needs(cpus, gpus, parse_size(memory) if isinstance(memory, str) else int(memory))


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise UsageError(f"ray.{name} must be a number, 0 or more", code="bad_config")
    return float(value)
