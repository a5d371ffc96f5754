"""What a PDF page consists of, which part of it must be recognised, and that part as pixels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muniment.adapters.media.boxes import Corners, area, intersection, union_of
from muniment.adapters.media.pdf_text import GARBAGE_SHARE, Mapping, TextLine, mapped, text_lines
from muniment.adapters.ports import Limits

if TYPE_CHECKING:
    from PIL import Image

POINTS_PER_INCH = 72
RENDER_DPI = 200
RENDER_PIXELS = 16_000_000
IMAGE_SHARE = 0.25
FORM_DEPTH = 4
SURVEYED_OBJECTS = 400
COVERED_SHARE = 0.5
WHOLE: Corners = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Survey:
    """What a page consists of, before deciding how to read it."""

    lines: list[TextLine]
    readable: bool
    hidden: bool
    images: list[Corners]
    objects: int

    @property
    def image_share(self) -> float:
        """Which share of the page pictures cover."""
        return min(1.0, sum(area(box) for box in self.images))


def survey_of(page: Any, place: Mapping) -> Survey:
    """Take stock of a page."""
    import pypdfium2.raw as pdfium

    lines, garbage = text_lines(page, place)
    images: list[Corners] = []
    hidden = visible = objects = 0
    for item in page.get_objects(max_depth=FORM_DEPTH):
        objects += 1
        if item.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            images.append(_clipped(mapped(place, _page_bounds(item))))
        elif item.type == pdfium.FPDF_PAGEOBJ_TEXT and hidden + visible < SURVEYED_OBJECTS:
            if pdfium.FPDFTextObj_GetTextRenderMode(item) == pdfium.FPDF_TEXTRENDERMODE_INVISIBLE:
                hidden += 1
            else:
                visible += 1
    readable = bool(lines) and garbage < GARBAGE_SHARE
    return Survey(lines, readable, hidden > visible, images, objects)


def _page_bounds(item: Any) -> tuple[float, float, float, float]:
    """Return an object's bounds on the page; inside a form they are relative to it."""
    bounds = item.get_bounds()
    holder = getattr(item, "container", None)
    while holder is not None:
        bounds = holder.get_matrix().on_rect(*bounds)
        holder = getattr(holder, "container", None)
    return (float(bounds[0]), float(bounds[1]), float(bounds[2]), float(bounds[3]))


def _clipped(corners: Corners) -> Corners:
    left, top, right, bottom = (min(1.0, max(0.0, value)) for value in corners)
    return left, top, right, bottom


def region_to_recognise(survey: Survey) -> Corners | None:
    """Return the part of a page that only text recognition can read, or null.

    A hidden layer is the work of an earlier recognition: what it covers was read already.
    """
    if not survey.readable:
        return WHOLE if survey.objects else None
    if survey.hidden or survey.image_share <= IMAGE_SHARE:
        return None
    return union_of([box for box in survey.images if area(box) > 0])


def render(page: Any, limits: Limits, region: Corners = WHOLE) -> "Image.Image":
    """Draw a page, or a region of it as displayed, at 200 dots an inch if the budget allows."""
    width, height = page.get_size()
    budget = min(RENDER_PIXELS, limits.max_pixels)
    scale = RENDER_DPI / POINTS_PER_INCH
    scale = min(scale, (budget / max(1.0, width * height)) ** 0.5)
    picture: Image.Image = page.render(scale=scale).to_pil().convert("RGB")
    if region == WHOLE:
        return picture
    left, top, right, bottom = region
    box = (
        left * picture.width,
        top * picture.height,
        right * picture.width,
        bottom * picture.height,
    )
    return picture.crop(
        (
            int(box[0]),
            int(box[1]),
            max(int(box[0]) + 1, round(box[2])),
            max(int(box[1]) + 1, round(box[3])),
        )
    )


def is_covered(corners: Corners, lines: list[TextLine]) -> bool:
    """Tell whether the text layer already says what stands in a box."""
    covered = sum(intersection(corners, line.corners) for line in lines)
    return covered > COVERED_SHARE * area(corners)
