"""Make vectors on a Ray cluster, many batches at once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from muniment.pipeline.cluster import node
from muniment.pipeline.cluster.calls import Call, Calls
from muniment.pipeline.cluster.connection import ClusterError, connected
from muniment.pipeline.cluster.settings import ClusterSettings
from muniment.pipeline.tasks import Failure

if TYPE_CHECKING:
    import numpy as np

    from muniment.adapters.models.settings import ModelSettings
    from muniment.adapters.ports import Audit, Embedder, ModelCall


class ClusterEmbedder:
    """An embedder whose passages are embedded on nodes; a query is still embedded here."""

    def __init__(
        self, here: "Embedder", models: "ModelSettings", settings: ClusterSettings, audit: "Audit"
    ) -> None:
        self.producer = here.producer
        self.dimensions = here.dimensions
        self._here = here
        self._models = models
        self._settings = settings
        self._audit = audit

    def query(self, text: str) -> "np.ndarray":
        """Return one float32 unit vector."""
        return self._here.query(text)

    def passages(self, texts: Sequence[str]) -> "np.ndarray":
        """Return float32 unit rows, one a text."""
        return self._here.passages(texts)

    def passages_of(
        self, batches: Iterable[tuple[int, Sequence[str]]], tick: Callable[[], None], /
    ) -> "Iterator[tuple[int, np.ndarray]]":
        """Yield (key of the batch, its rows) as each is ready, in any order."""
        with connected(self._settings.address) as ray:
            calls: Calls[int] = Calls(ray, self._settings, tick)
            build = node.build_of(self._models)
            asked = (
                Call(key, "embed", node.embed, (self._models, build, list(texts)))
                for key, texts in batches
            )
            for key, found in calls.run(asked, self._landed):
                if isinstance(found, Failure):
                    raise ClusterError(found.message, code=found.code, hint=found.hint)
                yield key, found

    def _landed(self, _key: int, answer: "tuple[np.ndarray, list[ModelCall]]") -> "np.ndarray":
        rows, calls = answer
        for call in calls:
            self._audit(call)
        return rows
