import hashlib

import pytest

from muniment.store.errors import UsageError
from muniment.store.sampling import sampler

ASSETS = [
    f"sha256:{hashlib.sha256(bytes([n, m])).hexdigest()}" for n in range(40) for m in range(50)
]


def chosen(sample: str | None, total: int = 0) -> int:
    wanted = sampler(sample, lambda: total)
    return sum(map(wanted, ASSETS))


def test_without_a_sample_everything_is_read() -> None:
    assert chosen(None) == len(ASSETS)


def test_the_parts_together_are_everything_and_each_is_the_same_again() -> None:
    parts = [chosen(f"{n}/7") for n in range(1, 8)]

    assert sum(parts) == len(ASSETS)
    assert parts == [chosen(f"{n}/7") for n in range(1, 8)]


@pytest.mark.parametrize(("share", "least", "most"), [("50%", 850, 1150), ("5%", 50, 160)])
def test_a_share_is_about_that_share(share: str, least: int, most: int) -> None:
    assert least < chosen(share) < most


@pytest.mark.parametrize("size", ["1G", "1g", "1024M", "1.0GiB", "1GB", "1048576k"])
def test_a_size_is_that_much_of_the_whole(size: str) -> None:
    assert 370 < chosen(size, total=4 << 30) < 630
    assert chosen(size, total=1 << 30) == chosen(size, total=0) == len(ASSETS)


@pytest.mark.parametrize(
    "nonsense", ["", "5", "0/3", "4/3", "101%", "-1%", "5 M", "M", "1/0", "1e3M"]
)
def test_nonsense_is_refused_with_an_example_of_each_form(nonsense: str) -> None:
    with pytest.raises(UsageError, match="is not a sample") as caught:
        sampler(nonsense, lambda: 0)

    assert (caught.value.code, caught.value.hint) == (
        "bad_sample", "use a part as 2/7, a share as 5%, or a size as 500M"
    )  # fmt: skip
