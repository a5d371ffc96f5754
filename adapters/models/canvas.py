"""Pictures as the OCR engine wants them, and points of them mapped back to the given picture."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from PIL import Image

Point: TypeAlias = tuple[float, float]
Quad: TypeAlias = tuple[Point, ...]
Box: TypeAlias = tuple[int, int, int, int]

# The engine shrinks to this side; tall strips (long screenshots of chats) are read in tiles.
MAX_SIDE = 2000
_STRIP_RATIO = 2.5
_SMALL_SIDE = 64
_MAX_GROWTH = 4.0
_OVERLAP_SHARE = 0.15


def flat(image: "Image.Image") -> "Image.Image":
    """Return RGB pixels, what is transparent laid on white."""
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        from PIL import Image as Pillow

        layered = image.convert("RGBA")
        paper = Pillow.new("RGBA", layered.size, "white")
        return Pillow.alpha_composite(paper, layered).convert("RGB")
    return image if image.mode == "RGB" else image.convert("RGB")


@dataclass(frozen=True, slots=True)
class Fitted:
    """An image in a size that the engine reads well, and the way back to the given one."""

    image: "Image.Image"
    size: tuple[int, int]
    scale: float = 1.0
    margin: int = 0

    def back(self, quad: Quad) -> Quad:
        """Map corners back to the given image, never outside it."""
        width, height = self.size
        return tuple(
            (
                _within((x - self.margin) / self.scale, width),
                _within((y - self.margin) / self.scale, height),
            )
            for x, y in quad
        )


def fitted(image: "Image.Image") -> Fitted:
    """Shrink what is large, smoothly and before copies of its pixels are made; grow what is small.

    Small pictures also get a margin: text that fills the whole picture is not found.
    """
    long, short = max(image.size), min(image.size)
    if long > MAX_SIDE:
        scale = MAX_SIDE / long
        return Fitted(_scaled(image, scale), image.size, scale)
    if short >= _SMALL_SIDE:
        return Fitted(image, image.size)
    from PIL import ImageOps

    scale = max(1.0, min(_SMALL_SIDE / short, MAX_SIDE / long, _MAX_GROWTH))
    # The engine enlarges by the short side, so a strip must not stay one.
    margin = int(max(short, (long - _STRIP_RATIO * short) / 3) * scale)
    grown = ImageOps.expand(_scaled(image, scale), margin, fill=_paper(image))
    return Fitted(grown, image.size, scale, margin)


def _paper(image: "Image.Image") -> tuple[int, ...]:
    """Return the commonest colour of the upper and lower edge."""
    edges = image.crop((0, 0, image.width, 1)), image.crop((0, image.height - 1, *image.size))
    colours = [found for edge in edges for found in edge.getcolors(image.width) or []]
    _, colour = max(colours)
    assert isinstance(colour, tuple)
    return colour


def _scaled(image: "Image.Image", scale: float) -> "Image.Image":
    from PIL.Image import Resampling

    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image.resize(size, Resampling.BICUBIC, reducing_gap=2.0)


def _within(value: float, most: int) -> float:
    return min(float(most), max(0.0, value))


def tiles(image: "Image.Image") -> Iterator[tuple[Box, Box]]:
    """Yield (tile, the part of it to keep), so that a tall strip is not shrunk out of sight."""
    width, height = image.size
    if height <= MAX_SIDE or height < _STRIP_RATIO * width:
        yield (0, 0, width, height), (0, 0, width + 1, height + 1)
        return
    side = min(MAX_SIDE, 2 * width)
    overlap = int(side * _OVERLAP_SHARE)
    for start in range(0, height - overlap, side - overlap):
        end = min(height, start + side)
        first = start + overlap // 2 if start else 0
        last = end - overlap + overlap // 2 if end < height else height + 1
        yield (0, start, width, end), (0, first, width + 1, last)


def turned(image: "Image.Image", turn: int) -> "Image.Image":
    """Return the image turned counter-clockwise by 0, 90, 180 or 270 degrees."""
    from PIL.Image import Transpose

    ways = {90: Transpose.ROTATE_90, 180: Transpose.ROTATE_180, 270: Transpose.ROTATE_270}
    return image.transpose(ways[turn]) if turn else image


def unturned(quad: Quad, turn: int, size: Point) -> Quad:
    """Map corners on the turned image back to the given one of this (width, height)."""
    width, height = size
    ways: dict[int, Callable[[float, float], Point]] = {
        0: lambda x, y: (x, y),
        90: lambda x, y: (width - y, x),
        180: lambda x, y: (width - x, height - y),
        270: lambda x, y: (y, height - x),
    }
    return tuple(ways[turn](x, y) for x, y in quad)


def middle(quad: Quad) -> Point:
    """Return the mean of the corners."""
    return sum(x for x, _ in quad) / len(quad), sum(y for _, y in quad) / len(quad)


def distance(one: Point, other: Point) -> float:
    """Return the distance of two points."""
    return float(((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2) ** 0.5)
