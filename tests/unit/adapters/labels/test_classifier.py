import numpy as np
import pytest

from muniment.adapters.models.labels.classifier import flat_share, written_share
from muniment.adapters.ports import OcrLine


def test_text_takes_the_area_of_its_lines_whichever_way_they_lie() -> None:
    straight = OcrLine("a", 0.9, ((10, 10), (60, 10), (60, 30), (10, 30)))
    askew = OcrLine("b", 0.9, ((50, 0), (100, 50), (50, 100), (0, 50)))

    assert written_share([straight], (100, 100)) == pytest.approx(0.1)
    assert written_share([straight, askew], (100, 100)) == pytest.approx(0.6)
    assert written_share([], (100, 100)) == 0


def test_a_drawing_is_flat_and_noise_is_not() -> None:
    paper = np.full((100, 100, 3), 255.0, np.float32)
    paper[:30] = 0
    noise = np.random.default_rng(1).integers(0, 256, (100, 100, 3)).astype(np.float32)

    assert flat_share(paper) == pytest.approx(0.7)
    assert flat_share(noise) < 0.02
