"""Look at a cluster as ``doctor`` does: can it be reached, and do its nodes read as we do?"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.pipeline.cluster import node
from muniment.pipeline.cluster.connection import connected
from muniment.pipeline.cluster.settings import STAGES, ClusterSettings
from muniment.store.errors import MunimentError

if TYPE_CHECKING:
    from muniment.adapters.models.settings import ModelSettings

ANSWER_SECONDS = 60.0


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def examine(settings: ClusterSettings, models: "ModelSettings") -> Iterator[Finding]:
    """Yield what was found: the address, every node's versions, whether each stage finds room."""
    try:
        with connected(settings.address) as ray:
            alive = [one for one in ray.nodes() if one["Alive"]]
            yield Finding(
                "ray", True, f"{ray.__version__} at {settings.address}: {len(alive)} nodes"
            )
            yield from _nodes(ray, alive, models)
            yield from _room(alive, settings)
    except MunimentError as error:
        yield Finding("ray", False, error.message, error.hint)


def _nodes(ray: Any, alive: list[dict[str, Any]], models: "ModelSettings") -> Iterator[Finding]:
    """Ask each node that computes what it is made of."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ours = node.describe(models)
    for one in alive:
        if not one["Resources"].get("CPU"):
            continue
        here = NodeAffinitySchedulingStrategy(node_id=one["NodeID"], soft=False)
        asked = ray.remote(num_cpus=0, scheduling_strategy=here)(node.describe).remote(models)
        name = f"node {one['NodeManagerAddress']}"
        try:
            theirs = ray.get(asked, timeout=ANSWER_SECONDS)
        except ray.exceptions.RayError as error:
            said = str(error).splitlines()[0][:200]
            yield Finding(name, False, said, "install muniment there, of the same version")
        else:
            detail = f"{theirs['host']}: muniment {theirs['muniment']}, Python {theirs['python']}"
            same = theirs["build"] == ours["build"]
            yield Finding(name, same, detail, "install the same versions of readers and models")


def _room(alive: list[dict[str, Any]], settings: ClusterSettings) -> Iterator[Finding]:
    """Tell how many calls of each stage run at once."""
    for stage in STAGES:
        needs = settings.needs_of(stage)
        slots = sum(needs.fit(one["Resources"]) for one in alive)
        detail = f"{slots} at once, each {needs.cpus:g} CPUs, {needs.gpus:g} GPUs"
        yield Finding(stage, slots > 0, detail, f"add such a node, or change [ray.{stage}]")
