"""Text in pictures by RapidOCR (PP-OCRv6, weights from its own package), any way up."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters.models import canvas, weights
from muniment.adapters.models.canvas import Box, Quad
from muniment.adapters.ports import OcrLine
from muniment.store.errors import MissingToolError

if TYPE_CHECKING:
    from PIL import Image

    from muniment.adapters.models.settings import Setup
    from muniment.store.records import Producer

PACKAGE = ("rapidocr", "rapidocr")
# As listed in the package's own default_models.yaml.
FILES = {
    "Det": (
        "PP-OCRv6_det_small.onnx",
        "090f04abcd9d9a7498bc4ebf677e4cb9bdce1fe4197ddb7e529f1ef44e1ff94f",
    ),
    "Rec": (
        "PP-OCRv6_rec_small.onnx",
        "6f327246b50388f3c176ae304bd95767ea6dc0c9ae92153ef8cbe210b3c14884",
    ),
    "Cls": (
        "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
        "e47acedf663230f8863ff1ab0e64dd2d82b838fceb5957146dab185a89d6215c",
    ),
}

# The engine turns a crop upright when it is this much taller than wide, or surely upside down.
_TALL = 1.5
_FLIP_CONFIDENCE = 0.9
# Below this mean confidence the picture may lie on its side without the engine having noticed.
_WEAK = 0.7
_CLEARLY = 0.9
_SMALLEST_SIDE = 6


@dataclass(frozen=True, slots=True)
class _Line:
    """A line as one pass found it; the quad starts at the text's own top left corner."""

    text: str
    confidence: float
    quad: Quad
    turn: int


class RapidOcr:
    """Read printed text, Chinese and English among others.

    Quads start at the text's own top left corner and run clockwise as it is read, so an upside
    down line starts at its lower right. Lines come in the order of rows as the text stands upright;
    columns are for the caller to tell apart.
    """

    def __init__(self, producer: "Producer", setup: "Setup") -> None:
        self.producer = producer
        self._min_confidence = float(setup.params["min_confidence"])
        self._engine = _load(setup)

    def read(self, image: "Image.Image") -> list[OcrLine]:
        """Return the lines of text; an image without any gives an empty list."""
        if min(image.size) < _SMALLEST_SIDE:
            return []
        picture = canvas.flat(image)
        lines = [
            line for tile, keep in canvas.tiles(picture) for line in self._tile(picture, tile, keep)
        ]
        return [OcrLine(line.text, line.confidence, line.quad) for line in lines]

    def _tile(self, picture: "Image.Image", tile: Box, keep: Box) -> Iterator[_Line]:
        """Yield the lines of a tile whose middle lies in the part that no other tile keeps."""
        part = picture if tile == (0, 0, *picture.size) else picture.crop(tile)
        fitted = canvas.fitted(part)
        for line in self._any_way_up(fitted.image):
            quad = tuple((x + tile[0], y + tile[1]) for x, y in fitted.back(line.quad))
            x, y = canvas.middle(quad)
            if keep[0] <= x < keep[2] and keep[1] <= y < keep[3]:
                yield _Line(line.text, line.confidence, quad, line.turn)

    def _any_way_up(self, image: "Image.Image") -> list[_Line]:
        first = self._pass(image, 0)
        if not first:
            return []
        turn = _common_turn(first)
        if turn:
            # The engine reads most turned lines as they are; standing upright they come in
            # order and the short ones are safe, so the first pass must be clearly better to win.
            upright = self._pass(image, turn)
            return upright if _worth(upright) >= _CLEARLY * _worth(first) else first
        if _mean_confidence(first) >= _WEAK:
            return first
        return max([first, *(self._pass(image, other) for other in (90, 180, 270))], key=_worth)

    def _pass(self, image: "Image.Image", turn: int) -> list[_Line]:
        """Read the image after turning it counter-clockwise, with quads of the given image."""
        lines = self._lines(canvas.turned(image, turn))
        size = (float(image.width), float(image.height))
        return [
            _Line(line.text, line.confidence, canvas.unturned(line.quad, turn, size), line.turn)
            for line in _in_rows(lines)
        ]

    def _lines(self, image: "Image.Image") -> Iterator[_Line]:
        import numpy as np
        from rapidocr.utils.process_img import map_boxes_to_original

        pixels = np.ascontiguousarray(np.asarray(image)[:, :, ::-1])
        prepared, steps = self._engine.preprocess_img(pixels)
        boxes, flips, texts, _ = self._engine.run_ocr_steps(prepared, steps)
        if boxes.boxes is None or texts.txts is None:
            return
        quads = map_boxes_to_original(boxes.boxes, steps, *pixels.shape[:2])
        for quad, flip, text, score in zip(
            quads, flips.cls_res, texts.txts, texts.scores, strict=True
        ):
            if text.strip() and score >= self._min_confidence:
                corners = tuple((float(x), float(y)) for x, y in quad)
                turn = _turn_of(corners, flip)
                yield _Line(text.strip(), float(score), _started(corners, turn), turn)


def _load(setup: "Setup") -> Any:
    files = _own_files(Path(setup.options.path)) if setup.options.path else _packaged_files()
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(setup.threads)
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": canvas.MAX_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": setup.threads,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # A named file is loaded as it is; without names the library may download.
            **{f"{part}.model_path": str(file) for part, file in files.items()},
        }
    )


def _packaged_files() -> dict[str, Path]:
    module, distribution = PACKAGE
    folder = weights.package_folder(module, distribution) / "models"
    return {
        part: weights.verified(folder / name, sha256, distribution)
        for part, (name, sha256) in FILES.items()
    }


def _own_files(folder: Path) -> dict[str, Path]:
    """Return the person's own models by the part that their file names hold; the rest packaged."""
    own = {
        part: found[0] for part in FILES if (found := sorted(folder.glob(f"*{part.lower()}*.onnx")))
    }
    if not own:
        raise MissingToolError(
            f"models.ocr.path holds no *det*.onnx, *rec*.onnx or *cls*.onnx: {folder}"
        )
    return {**_packaged_files(), **own}


def _turn_of(quad: Quad, flip: tuple[str, float]) -> int:
    """Return by how many degrees counter-clockwise this line was turned before it was read."""
    wide = max(canvas.distance(quad[0], quad[1]), canvas.distance(quad[2], quad[3]))
    tall = max(canvas.distance(quad[0], quad[3]), canvas.distance(quad[1], quad[2]))
    turn = 90 if int(tall) >= _TALL * max(int(wide), 1) else 0
    label, score = flip
    return turn + 180 if label == "180" and score > _FLIP_CONFIDENCE else turn


def _started(quad: Quad, turn: int) -> Quad:
    """Return the corners starting at the top left of the text as it is read."""
    first = turn // 90
    return quad[first:] + quad[:first]


def _common_turn(lines: Sequence[_Line]) -> int:
    """Return the turn that most of the text asks for."""
    weights_by_turn = dict.fromkeys((0, 90, 180, 270), 0.0)
    for line in lines:
        weights_by_turn[line.turn] += len(line.text) * line.confidence
    return max(weights_by_turn, key=lambda turn: weights_by_turn[turn])


def _mean_confidence(lines: Sequence[_Line]) -> float:
    letters = sum(len(line.text) for line in lines)
    return sum(len(line.text) * line.confidence for line in lines) / letters


def _worth(lines: Sequence[_Line]) -> float:
    """Return how much text was read, doubtful text counting little."""
    return sum(len(line.text) * max(0.0, line.confidence - 0.5) for line in lines)


def _in_rows(lines: Iterable[_Line]) -> list[_Line]:
    """Sort top to bottom, and left to right where lines share a row."""
    by_height = sorted(lines, key=lambda line: canvas.middle(line.quad)[1])
    rows: list[list[_Line]] = []
    for line in by_height:
        if rows and _same_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [
        line for row in rows for line in sorted(row, key=lambda line: canvas.middle(line.quad)[0])
    ]


def _same_row(first: _Line, second: _Line) -> bool:
    heights = [
        max(y for _, y in line.quad) - min(y for _, y in line.quad) for line in (first, second)
    ]
    return abs(canvas.middle(first.quad)[1] - canvas.middle(second.quad)[1]) < min(heights) / 2
