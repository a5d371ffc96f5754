"""Open pictures upright, flat and within budget, whatever their format, mode or damage."""

import contextlib
import io
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from muniment.adapters.formats.raw_kinds import raw_type
from muniment.adapters.ports import Limits, Source
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

# Named one by one: Pillow also opens formats that run programs or need another file.
FORMATS = (
    *("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "AVIF", "HEIF"),
    *("ICO", "PSD", "JPEG2000", "PPM", "TGA", "PCX", "SGI", "QOI"),
)
ANIMATIONS = frozenset({"GIF", "WEBP", "PNG", "AVIF"})
HEAD_BYTES = 64 * 1024
_HEIF_BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")
# A picture is not read finer than this: JPEG decoders shrink while decoding, for free.
DRAFT_LONG_SIDE = 8000
_FULL_SCALE = 65535.0


@dataclass(frozen=True, slots=True)
class Upright:
    """One frame as a person sees it: RGB, upright, nothing transparent.

    ``page`` counts from 1 and is null for a picture that has one frame only. ``damaged`` says
    why a part of it is missing.
    """

    image: "Image.Image"
    page: int | None = None
    damaged: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """An opened picture file: its frames come one at a time.

    ``preview`` says that it is the one which a camera put into a raw photo.
    """

    opened: "Image.Image"
    limits: Limits
    preview: bool = False

    @property
    def frame_count(self) -> int:
        """How many frames or pages are to be read as such; previews and layers are not."""
        if self.opened.format not in (*ANIMATIONS, "TIFF"):
            return 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return max(1, int(getattr(self.opened, "n_frames", 1)))
            except Exception:  # a broken directory of frames leaves the first one readable
                return 1

    @property
    def animated(self) -> bool:
        """Whether the frames follow each other in time."""
        return self.opened.format in ANIMATIONS and self.frame_count > 1

    @property
    def cap(self) -> int:
        """How many frames are read at most."""
        return self.limits.max_frames if self.animated else self.limits.max_pages

    def frames(self) -> Iterator[Upright]:
        """Yield the frames; an animation with too many is sampled evenly, end to end.

        Raises ``InputError`` when not one can be decoded.
        """
        count = self.frame_count
        problem: InputError | None = None
        shown = 0
        for index in sample(count, self.cap, evenly=self.animated):
            try:
                frame = self._frame(index, count)
            except InputError as error:
                problem = error
                continue
            shown += 1
            yield frame
        if problem is not None and (not shown or problem.code == "pixel_limit"):
            raise problem

    def _frame(self, index: int, count: int) -> Upright:
        with _guarded(self.limits):
            if index:
                self.opened.seek(index)
            check_pixels(self.opened.size, self.limits)
            damaged = _load(self.opened)
            image = flatten(_turned(self.opened))
        if damaged and all(low == high for low, high in _extrema(image)):
            raise InputError(f"nothing of it can be decoded: {damaged}", code="unreadable")
        return Upright(image, index + 1 if count > 1 else None, damaged)


@contextlib.contextmanager
def open_picture(source: Source, limits: Limits) -> Iterator[Picture]:
    """Open a picture file; its size is checked against the budget before anything is decoded.

    Raises ``InputError``: ``pixel_limit``, ``heic_support_missing``, ``unreadable``.
    """
    if source.size == 0:
        raise InputError("the file is empty", code="empty_file", status="empty")
    with source.open() as stream:
        opened, raw = _opened(stream, limits)
        with opened:
            check_pixels(opened.size, limits)
            if opened.format == "JPEG" and max(opened.size) > DRAFT_LONG_SIDE:
                opened.draft("RGB", (DRAFT_LONG_SIDE, DRAFT_LONG_SIDE))
            yield Picture(opened, limits, raw)


def _opened(stream: BinaryIO, limits: Limits) -> "tuple[Image.Image, bool]":
    """Open what a stream holds, of a raw photo its preview; tell whether it is one."""
    from PIL import Image

    head = stream.read(HEAD_BYTES)
    if _is_heif(head):
        _register_heif()
    raw = raw_type(head)
    stream.seek(0)
    with _guarded(limits):
        Image.init()
        formats = [name for name in FORMATS if name in Image.OPEN]
        if raw is None:
            return Image.open(stream, formats=formats), False
        from muniment.adapters.media.raw_preview import preview_of, with_tags

        opened = Image.open(io.BytesIO(preview_of(stream, raw)), formats=["JPEG"])
        return with_tags(opened, stream, raw), True


def sample(count: int, cap: int, *, evenly: bool) -> list[int]:
    """Return which of ``count`` frames to read when at most ``cap`` may be."""
    if count <= cap:
        return list(range(count))
    if not evenly or cap == 1:
        return list(range(cap))
    return [round(number * (count - 1) / (cap - 1)) for number in range(cap)]


def check_pixels(size: tuple[int, int], limits: Limits) -> None:
    """Refuse a picture that is larger than the budget, or that has no extent."""
    width, height = size
    if width < 1 or height < 1:
        raise InputError("the picture has no extent", code="unreadable")
    if width * height > limits.max_pixels:
        raise InputError(
            f"{width}×{height} pixels are more than the limit of {limits.max_pixels}",
            code="pixel_limit",
            hint="raise limits.max_pixels to read it",
        )


def flatten(image: "Image.Image") -> "Image.Image":
    """Return RGB: deep greys scaled to eight bits, transparency laid on white."""
    from PIL import Image

    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _eight_bits(image).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        plain = {"RGBa": "RGBA", "La": "LA"}.get(image.mode)
        layered = (image.convert(plain) if plain else image).convert("RGBA")
        paper = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(paper, layered).convert("RGB")
    return image.convert("RGB")


def _extrema(image: "Image.Image") -> list[tuple[float, float]]:
    """Return the least and the greatest level of each band."""
    return [(float(low), float(high)) for low, high in map(_levels, image.split())]


def _levels(band: "Image.Image") -> tuple[float, float]:
    low, high = band.getextrema()
    return low, high  # type: ignore[return-value]  # one band gives two numbers


def _eight_bits(image: "Image.Image") -> "Image.Image":
    import numpy as np
    from PIL import Image

    values = np.nan_to_num(np.asarray(image).astype(np.float32))
    # Sixteen bits have a known full scale; floats and 32-bit integers only their own range.
    deep = image.mode.startswith("I;16") or (
        image.mode == "I" and values.max(initial=0) <= _FULL_SCALE
    )
    low, high = (0.0, _FULL_SCALE) if deep else (float(values.min()), float(values.max()))
    scaled = (values - low) * (255.0 / (high - low)) if high > low else values * 0
    return Image.fromarray(np.clip(scaled, 0, 255).astype(np.uint8))


def _load(image: "Image.Image") -> str:
    """Decode; a file that breaks off is filled with what there is. Return what was wrong."""
    from PIL import ImageFile

    try:
        image.load()
    except (OSError, SyntaxError, ValueError, EOFError, IndexError) as error:
        before = ImageFile.LOAD_TRUNCATED_IMAGES
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            image.load()
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = before
        return str(error)[:200] or "the picture breaks off"
    return ""


def _turned(image: "Image.Image") -> "Image.Image":
    """Turn by EXIF. HEIF is upright once decoded, and its tag was cleared by the decoder."""
    from PIL import ImageOps

    if image.format == "HEIF":
        return image
    try:
        return ImageOps.exif_transpose(image)
    except Exception:  # broken EXIF must not lose the pixels
        return image


@contextlib.contextmanager
def _guarded(limits: Limits) -> Iterator[None]:
    """Apply the pixel budget inside Pillow, too, and turn its many errors into ours."""
    from PIL import Image

    before = Image.MAX_IMAGE_PIXELS
    Image.MAX_IMAGE_PIXELS = limits.max_pixels
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            yield
    except InputError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InputError(
            f"the picture is larger than the limit of {limits.max_pixels} pixels",
            code="pixel_limit",
            hint="raise limits.max_pixels to read it",
        ) from error
    except MemoryError as error:
        raise InputError("the picture needs too much memory", code="memory_limit") from error
    except Exception as error:  # decoders raise whatever a broken file makes them raise
        raise InputError(f"not a readable picture: {_brief(error)}", code="unreadable") from error
    finally:
        Image.MAX_IMAGE_PIXELS = before


def _brief(error: Exception) -> str:
    # Pillow names the stream object, which differs each time.
    return (
        "unknown format" if "identify" in str(error) else str(error)[:200] or type(error).__name__
    )


def _is_heif(head: bytes) -> bool:
    return head[4:8] == b"ftyp" and head[8:12] in _HEIF_BRANDS


def _register_heif() -> None:
    try:
        import pi_heif
    except ImportError as error:
        raise InputError(
            "HEIC pictures need the pi-heif package",
            code="heic_support_missing",
            status="unsupported",
            transient=True,
            hint="pip install pi-heif",
        ) from error
    pi_heif.register_heif_opener()
