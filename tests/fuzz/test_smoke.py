"""A few hundred of the inputs of ``make fuzz``, in this process."""

from pathlib import Path

import pytest
from fuzz.check import faults
from fuzz.inputs import damaged, seeds, shapes

DAMAGED, SHAPES = 120, 80


@pytest.mark.filterwarnings("ignore")  # libraries warn of what is broken, and it is meant to be
def test_no_damaged_input_makes_a_reader_fall(tmp_path: Path, samples: Path) -> None:
    sources = [one for one in seeds([samples]) if not one.name.endswith((".mp4", ".ogg"))]
    given = [*shapes(SHAPES), *(damaged(sources, 1, number) for number in range(DAMAGED))]

    found = {one.origin: said for one in given if (said := list(faults(one, tmp_path / "task")))}

    assert found == {}


def test_an_input_is_the_same_each_time(samples: Path) -> None:
    sources = seeds([samples])

    assert damaged(sources, 7, 3) == damaged(sources, 7, 3)
    assert damaged(sources, 7, 3) != damaged(sources, 8, 3)
    assert shapes(20) == shapes(20)
