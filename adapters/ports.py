"""The protocols that the outside world is reached through, and the values that cross them.

Plain dataclasses: they are pickled between processes by the hundred thousand. A reader turns the
bytes of one asset into *findings*; it never sees the ledger. Models are asked for by role through
:class:`Tools`, which loads one at its first use and keeps it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias, TypeVar, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image
    from pydantic import BaseModel

    from muniment.store.records import Locator, Moment, Origin, Producer, Status


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets that are checked before and while decoding; every one has a unit in its name."""

    max_pixels: int = 100_000_000
    max_pages: int = 2_000
    max_frames: int = 24
    max_text_bytes: int = 512 * 1024 * 1024
    max_key_frames: int = 600
    max_members: int = 100_000
    max_depth: int = 4
    max_unpacked_bytes: int = 16 * 1024**3
    max_ratio: int = 200
    max_cells: int = 2_000_000
    item_seconds: int = 6 * 3600
    tool_seconds: int = 3 * 3600
    worker_memory_bytes: int = 3 * 1024**3


@dataclass(frozen=True, slots=True)
class Source:
    """One asset as a reader may see it: bytes in memory or a hash-named file, never its path.

    ``name`` is the file name it was first seen under, a hint and nothing more. ``scratch`` is a
    folder of this task's own, inside the root, emptied afterwards. ``depth`` counts the containers
    that it was taken out of: 0 for a file that was seen by itself.
    """

    asset: str
    size: int
    media_type: str
    family: str
    name: str
    scratch: Path
    path: Path | None = None
    data: bytes | None = None
    depth: int = 0

    def open(self) -> BinaryIO:
        """Open the bytes for reading from their start."""
        if self.path is not None:
            return self.path.open("rb")
        from io import BytesIO

        return BytesIO(self.data or b"")

    def file(self) -> Path:
        """Return a hash-named file with the bytes, writing inline ones into ``scratch``."""
        if self.path is not None:
            return self.path
        spooled = self.scratch / self.asset.removeprefix("sha256:")
        if not spooled.exists():
            spooled.write_bytes(self.data or b"")
        return spooled


@dataclass(frozen=True, slots=True)
class Draft:
    """An observation before the ledger gives it an id.

    ``producer`` is null when the reader itself made it. ``origin`` null takes the sighting's.
    ``confidence`` 0.0 means unknown. ``occurrence`` tells apart equal drafts of one asset (the
    third "ok" of a chat): the reader counts it up only where kind and locator are equal.
    """

    kind: str
    text: str
    locator: "Locator"
    confidence: float = 0.0
    producer: "Producer | None" = None
    origin: "Origin | None" = None
    role: str | None = None
    language: str | None = None
    author: str | None = None
    thread: str | None = None
    occurred: "Moment | None" = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    occurrence: int = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a call: what dataclasses do by themselves looks at every field by name."""
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)


@dataclass(frozen=True, slots=True)
class Derived:
    """Bytes made from an asset that become an asset themselves: a key frame, an attachment.

    Exactly one of ``data`` and ``path`` is set; a path lies in the task's scratch folder.
    ``relation`` is a noun such as ``key_frame``, ``page_image``, ``attachment``, ``member``.
    ``modified`` is when the container says that it was last changed.
    """

    relation: str
    locator: "Locator | None" = None
    name: str = ""
    data: bytes | None = None
    path: Path | None = None
    observe: bool = False
    modified: "Moment | None" = None


@dataclass(frozen=True, slots=True)
class TimeClaim:
    """A time that some source gives for the capture of the asset; ``source`` as in CONTRACT 3.2:
    ``exif_offset, exif_gps, exif, sidecar, container, header, file_name, mtime``.
    """

    moment: "Moment"
    source: str
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class PlaceClaim:
    """A position in degrees (WGS 84), metres above sea level where known."""

    latitude: float
    longitude: float
    source: str
    altitude: float | None = None


@dataclass(frozen=True, slots=True)
class Print:
    """A fingerprint of decoded content, ``measure:digits`` (:mod:`muniment.adapters.media.prints`),
    by which near-duplicates are told; ``kind`` is ``picture``, ``sound`` or ``frames``.
    """

    kind: str
    value: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How reading ended when it was not plainly ``ok``; the last finding of a reader, if any."""

    status: "Status"
    code: str
    message: str = ""


Finding: TypeAlias = Draft | Derived | TimeClaim | PlaceClaim | Print | Outcome


# --- models ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OcrLine:
    """A line of text in a picture; ``quad`` are its corners in pixels, clockwise from top left."""

    text: str
    confidence: float
    quad: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Word:
    """A spoken word and its span in milliseconds from the start of the samples."""

    text: str
    start_ms: int
    end_ms: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of speech in milliseconds from the start of the samples.

    ``suspicious`` names why the text may be invented (``repetition``, ``compression``,
    ``low_probability``), or is empty.
    """

    text: str
    start_ms: int
    end_ms: int
    confidence: float
    words: tuple[Word, ...] = ()
    suspicious: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was heard, and in which language (ISO 639-1)."""

    segments: tuple[Segment, ...]
    language: str
    language_confidence: float


@dataclass(frozen=True, slots=True)
class Description:
    """What a picture shows, in words, with labels."""

    text: str
    labels: tuple[str, ...] = ()
    confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class Label:
    """A plain word for what a picture seems to show, in English and in Chinese."""

    english: str
    chinese: str
    confidence: float


class Ocr(Protocol):
    """Read the lines of text in a picture."""

    producer: "Producer"

    def read(self, image: "Image.Image") -> list[OcrLine]:
        """Return lines in reading order; an image without text gives an empty list."""


class SpeechDetector(Protocol):
    """Find where somebody speaks."""

    producer: "Producer"

    def detect(self, samples: "np.ndarray") -> list[tuple[int, int]]:
        """Return (start, end) sample offsets; ``samples`` are float32 mono at 16 kHz."""
        ...


class Transcriber(Protocol):
    """Turn speech into text with times."""

    producer: "Producer"

    def transcribe(self, samples: "np.ndarray", language: str | None = None) -> Transcript:
        """Transcribe float32 mono samples at 16 kHz; ``language`` null means find out."""
        ...


class Embedder(Protocol):
    """Turn text into unit vectors."""

    producer: "Producer"
    dimensions: int

    def passages(self, texts: Sequence[str]) -> "np.ndarray":
        """Return float32 unit rows, one a text."""
        ...

    def query(self, text: str) -> "np.ndarray":
        """Return one float32 unit vector."""
        ...


@runtime_checkable
class BatchEmbedder(Protocol):
    """An :class:`Embedder` that works on many batches at once, somewhere else."""

    def passages_of(
        self, batches: Iterable[tuple[int, Sequence[str]]], tick: Callable[[], None], /
    ) -> "Iterator[tuple[int, Iterable[np.ndarray]]]":
        """Yield (key of the batch, its rows) as each is ready, in any order.

        Batches are taken only as needed; ``tick`` is called while waiting.
        """
        ...


class Describer(Protocol):
    """Say what a picture shows."""

    producer: "Producer"

    def describe(self, jpeg: bytes) -> Description:
        """Describe one JPEG."""


class Labeller(Protocol):
    """Name what a photo seems to show."""

    producer: "Producer"

    def label(self, image: "Image.Image", written: Sequence[OcrLine]) -> list[Label]:
        """Return labels, the narrowest first; ``written`` is the text found in the image."""


Answer = TypeVar("Answer", bound="BaseModel")


class Chat(Protocol):
    """Ask a language model for an answer of a given shape."""

    producer: "Producer"

    def complete(self, system: str, user: str, schema: "type[Answer]") -> "Answer":
        """Return the answer, validated; ``InputError`` when the model gives no valid one."""
        ...


class LanguageIdentifier(Protocol):
    """Name the language of a text."""

    producer: "Producer"

    def identify(self, text: str) -> tuple[str, float]:
        """Return (ISO 639-1 code, confidence)."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """The audit row of one remote call (CONTRACT 9): what was asked of whom, never the content."""

    role: str
    adapter: str
    model_asked: str
    model_answered: str | None
    inputs: tuple[str, ...]
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None
    milliseconds: int
    outcome: str


class Audit(Protocol):
    """Where audit rows go."""

    def __call__(self, call: ModelCall, /) -> None:
        """Keep one row."""
        ...


class Tools(Protocol):
    """What a reader may use besides the bytes. Models load at first use, once a process.

    Asking for a role that has no adapter raises ``MissingToolError`` (local part absent) or
    returns null where the role is optional by contract (``describer``, ``labeller``).
    """

    limits: Limits
    languages: tuple[str, ...]

    def ocr(self) -> Ocr:
        """Return the OCR engine."""
        ...

    def speech_detector(self) -> SpeechDetector:
        """Return the voice-activity gate."""
        ...

    def transcriber(self) -> Transcriber:
        """Return the speech recogniser."""
        ...

    def describer(self) -> Describer | None:
        """Return the picture describer when one is configured."""
        ...

    def labeller(self) -> Labeller | None:
        """Return the classifier of photos when it is there and not switched off."""

    def language_identifier(self) -> LanguageIdentifier:
        """Return the text language identifier."""
        ...


class Reader(Protocol):
    """Turn one asset's bytes into findings.

    Called in a worker process or in the parent, as its :class:`ReaderSpec` says. Raises
    ``InputError`` for a fault of this input; anything else it raises counts as a failure of this
    item, too. May be called again for the same asset and must then give equal findings.
    """

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield what the bytes hold, as found."""
        ...


@dataclass(frozen=True, slots=True)
class ReaderSpec:
    """What is known of a reader without importing it.

    ``families``: sniffed families that it reads. ``lane``: the process that it runs in:
    ``inline`` (parent; light text only), ``parse`` (worker, no model), ``ocr``, ``transcribe``.
    ``kinds``: the observation kinds that it covers. ``roles``: model roles whose fingerprints are
    part of its own. ``target``: ``module:Class``. ``formats``, ``locators``, ``library`` and
    ``limits`` are words for the reference.
    """

    name: str
    version: str
    families: frozenset[str]
    lane: str
    kinds: tuple[str, ...]
    target: str
    roles: tuple[str, ...] = ()
    formats: str = ""
    locators: str = ""
    library: str = ""
    limits: str = ""
