"""Choose where the heavy stages run, as the settings say."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from muniment.pipeline.cluster.settings import cluster_of, is_clustered
from muniment.pipeline.tasks import Executor, ReaderSetup

if TYPE_CHECKING:
    from collections.abc import Callable

    from muniment.adapters.models.settings import ModelSettings
    from muniment.adapters.ports import Audit, Embedder
    from muniment.pipeline.settings import Settings


@contextmanager
def reading_engine(
    settings: "Settings", setup: ReaderSetup, tick: "Callable[[], None]"
) -> Iterator[Executor]:
    """Yield what reads: processes of this machine, or the nodes of a cluster."""
    if is_clustered(settings):
        with _cluster(settings, setup, tick) as cluster:
            yield cluster
    else:
        with _processes(settings, setup, tick) as pool:
            yield pool


def embedding_engine(
    settings: "Settings", embedder: "Embedder", models: "ModelSettings", audit: "Audit"
) -> "Embedder":
    """Return what embeds: the embedder itself, or one that spreads passages over a cluster."""
    if not is_clustered(settings):
        return embedder
    from muniment.pipeline.cluster.embedding import ClusterEmbedder

    return ClusterEmbedder(embedder, models, cluster_of(settings), audit)


@contextmanager
def _cluster(
    settings: "Settings", setup: ReaderSetup, tick: "Callable[[], None]"
) -> Iterator[Executor]:
    from muniment.pipeline.cluster.connection import connected
    from muniment.pipeline.cluster.executor import RayExecutor

    chosen = cluster_of(settings)
    with connected(chosen.address) as ray:
        yield RayExecutor(ray, setup, chosen, tick=tick)


@contextmanager
def _processes(
    settings: "Settings", setup: ReaderSetup, tick: "Callable[[], None]"
) -> Iterator[Executor]:
    from muniment.pipeline.executor import Pool

    watch, bound = settings.watch, settings["jobs"]

    def adjust() -> None:
        tick()
        if bound is None:  # memory that gets short ends processes that have nothing in hand
            pool.jobs = watch.jobs()

    with Pool(setup, bound or watch.jobs(), tick=adjust) as pool:
        yield pool
