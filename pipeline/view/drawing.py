"""Draw a picture on a terminal: by its own graphics where it has some, else in half blocks.

Each drawing is the text to write, ending on a fresh line. A picture of ours is never larger than
the cells it is given.
"""

import base64
import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from PIL import Image

Way = Literal["kitty", "iterm", "sixel", "blocks"]
Box = tuple[float, float, float, float]

# What a cell is taken for where the terminal does not say: a common one, in pixels.
CELL_WIDTH, CELL_HEIGHT = 8, 16
_CHUNK = 4_096
_FRAME = (232, 89, 12)
_SIXEL_COLOURS = 64
_BAND = 6  # rows of pixels that one row of sixels holds
_RUN = 3  # shorter runs are written out
_KITTY_TERMS, _KITTY_PROGRAMS = ("xterm-kitty", "xterm-ghostty"), ("ghostty",)
_ITERM_PROGRAMS = ("iTerm.app", "WezTerm")
_SIXEL_TERMS = ("foot", "foot-extra", "mlterm", "contour", "yaft-256color")
_INSIDE_OTHERS = ("screen", "tmux")
TRUE_COLOUR = ("truecolor", "24bit")


def way_of(environment: Mapping[str, str]) -> Way | None:
    """Return how the terminal that an environment tells of draws; null where it can't.

    >>> way_of({"TERM": "xterm-kitty"}), way_of({"TERM": "dumb"})
    ('kitty', None)
    """
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if term in ("", "dumb") or environment.get("NO_COLOR"):
        return None
    # What stands between eats graphics that it does not know.
    if not term.startswith(_INSIDE_OTHERS):
        if environment.get("KITTY_WINDOW_ID") or term in _KITTY_TERMS or program in _KITTY_PROGRAMS:
            return "kitty"
        if program in _ITERM_PROGRAMS:
            return "iterm"
        if term in _SIXEL_TERMS:
            return "sixel"
    known = environment.get("COLORTERM") in TRUE_COLOUR or "256color" in term
    return "blocks" if known else None


def draw(
    picture: "Image.Image", way: Way, columns: int, rows: int, *, box: Box | None = None,
    deep: bool = True,
) -> str:  # fmt: skip
    """Return a picture as a terminal takes it, with a box framed.

    ``box`` is left, top, right and bottom as shares of the sides; ``deep`` false keeps half blocks
    to 256 colours.
    """
    blocks = way == "blocks"
    across, down = (1, 2) if blocks else (CELL_WIDTH, CELL_HEIGHT)
    image = picture.convert("RGB")
    image.thumbnail((max(1, columns * across), max(2, rows * down)))
    if box is not None:
        _frame(image, box, 1 if blocks else 2)
    if blocks:
        return _blocks(image, deep=deep)
    if way == "sixel":
        return _sixel(image)
    return (_kitty if way == "kitty" else _iterm)(_png(image))


def _frame(image: "Image.Image", box: Box, thick: int) -> None:
    """Draw a frame after the picture was made small, so that it is not made thin with it."""
    from PIL import ImageDraw

    sides = (image.width, image.height) * 2
    left, top, right, bottom = (round(share * side) for share, side in zip(box, sides, strict=True))
    place = (left - thick, top - thick, max(right, left) + thick - 1, max(bottom, top) + thick - 1)
    ImageDraw.Draw(image).rectangle(place, outline=_FRAME, width=thick)


def _png(image: "Image.Image") -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return buffer.getvalue()


def _kitty(data: bytes) -> str:
    """Write a PNG in chunks; q=2 keeps the terminal from answering into the shell."""
    text = base64.b64encode(data).decode("ascii")
    chunks = [text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK)]
    parts = []
    for place, chunk in enumerate(chunks):
        head = "a=T,f=100,q=2," if place == 0 else ""
        parts.append(f"\x1b_G{head}m={int(place < len(chunks) - 1)};{chunk}\x1b\\")
    return "".join(parts) + "\n"


def _iterm(data: bytes) -> str:
    text = base64.b64encode(data).decode("ascii")
    return f"\x1b]1337;File=inline=1;size={len(data)};preserveAspectRatio=1:{text}\x07\n"


def _blocks(image: "Image.Image", *, deep: bool) -> str:
    """Write two pixels a cell: the upper one as the ink of a half block, the lower one under it."""
    width, height = image.size
    colour = _deep if deep else _shallow
    lines = []
    for y in range(0, height, 2):
        cells = []
        for x in range(width):
            upper = colour(image, x, y)
            lower = f"\x1b[48;{colour(image, x, y + 1)}m" if y + 1 < height else ""
            cells.append(f"\x1b[38;{upper}m{lower}▀")
        lines.append("".join(cells) + "\x1b[0m\n")
    return "".join(lines)


def _deep(image: "Image.Image", x: int, y: int) -> str:
    red, green, blue = _pixel(image, x, y)
    return f"2;{red};{green};{blue}"


def _shallow(image: "Image.Image", x: int, y: int) -> str:
    """Return the nearest colour of the 6×6×6 cube that begins at 16."""
    red, green, blue = (round(part / 255 * 5) for part in _pixel(image, x, y))
    return f"5;{16 + 36 * red + 6 * green + blue}"


def _pixel(image: "Image.Image", x: int, y: int) -> tuple[int, int, int]:
    found = image.getpixel((x, y))
    assert isinstance(found, tuple)
    return found[0], found[1], found[2]


def _sixel(image: "Image.Image") -> str:
    """Write an indexed picture band by band: in each, one line a colour that occurs in it."""
    indexed = image.quantize(_SIXEL_COLOURS)
    width, height = indexed.size
    palette, pixels = indexed.getpalette() or [], indexed.tobytes()
    colours = [_colour(at, palette[at * 3 : at * 3 + 3]) for at in sorted(set(pixels))]
    bands = (
        [pixels[y * width : (y + 1) * width] for y in range(top, min(top + _BAND, height))]
        for top in range(0, height, _BAND)
    )
    drawn = "-".join("$".join(_band(rows, width)) for rows in bands)
    return f'\x1bPq"1;1;{width};{height}{"".join(colours)}{drawn}\x1b\\\n'


def _colour(number: int, parts: list[int]) -> str:
    """Define a colour in percents, as sixels have them."""
    return f"#{number};2;" + ";".join(str(round(part / 255 * 100)) for part in parts)


def _band(rows: list[bytes], width: int) -> Iterator[str]:
    for colour in sorted(set(b"".join(rows))):
        sixels = [
            sum(1 << place for place, row in enumerate(rows) if row[x] == colour)
            for x in range(width)
        ]
        yield f"#{colour}" + "".join(_runs(sixels))


def _runs(sixels: list[int]) -> Iterator[str]:
    at = 0
    while at < len(sixels):
        end = at
        while end < len(sixels) and sixels[end] == sixels[at]:
            end += 1
        sign, count = chr(63 + sixels[at]), end - at
        yield f"!{count}{sign}" if count > _RUN else sign * count
        at = end
