"""Voice activity by Silero, the copy that ships inside faster-whisper."""

from typing import TYPE_CHECKING

from muniment.adapters.models import weights

if TYPE_CHECKING:
    import numpy as np

    from muniment.adapters.models.settings import Setup
    from muniment.store.records import Producer

SAMPLE_RATE = 16_000
PACKAGE = ("faster_whisper", "faster-whisper")
FILE = "silero_vad_v6.onnx"
# No digest is published for this file: this is what the pinned wheel holds.
SHA256 = "4cbf549b8326f60f80f2536d9eefeb450a9abe83365a098031c89719f1be17d2"


class SileroDetector:
    """Find speech with Silero, and drop what is too quiet to be any."""

    def __init__(self, producer: "Producer", setup: "Setup") -> None:
        module, distribution = PACKAGE
        folder = weights.package_folder(module, distribution) / "assets"
        weights.verified(folder / FILE, SHA256, distribution)
        self.producer = producer
        params = dict(setup.params)
        self._quietest = 10 ** (params.pop("min_level_dbfs") / 20)
        self._options = params

    def detect(self, samples: "np.ndarray") -> list[tuple[int, int]]:
        """Return (start, end) sample offsets; ``samples`` are float32 mono at 16 kHz."""
        import numpy as np

        samples = np.nan_to_num(np.asarray(samples, dtype=np.float32).reshape(-1))
        if samples.size == 0 or float(abs(samples).max()) < self._quietest:
            return []
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        found = get_speech_timestamps(samples, VadOptions(**self._options))
        spans = [(int(span["start"]), int(span["end"])) for span in found]
        return [span for span in spans if _level(samples[slice(*span)]) >= self._quietest]


def _level(samples: "np.ndarray") -> float:
    """Return the root mean square, full scale being 1."""
    import numpy as np

    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
