import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.store.ids import (
    asset_id,
    canonical,
    canonical_text,
    digest,
    made,
    made_around,
    storable,
)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


def test_an_asset_is_its_sha256() -> None:
    assert asset_id(b"abc") == (
        "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )


def test_ids_written_by_earlier_versions_are_the_same_today() -> None:
    assert made("obs", "sha256:00", "text", {"start": 0, "type": "char"}, "p", 0) == (
        "obs_" + digest("obs", "sha256:00", "text", {"type": "char", "start": 0}, "p", 0)
    )
    assert digest("obs", 1, None, "é") == "2c4513af3f7cfa875af8466fe75658b3"


@settings(max_examples=40)
@given(st.dictionaries(st.text(), values, max_size=6))
def test_the_order_of_fields_is_no_part_of_an_id(fields: dict[str, object]) -> None:
    assert digest(fields) == digest(dict(reversed(fields.items())))


@settings(max_examples=40)
@given(values, values)
def test_parts_do_not_run_into_each_other(one: object, other: object) -> None:
    assert digest(one, other) != digest([one, other])
    assert made("a", one) != made("b", one)


@given(values)
def test_canonical_text_of_plain_values_reads_back_equal(value: object) -> None:
    text = canonical_text(value)

    assert json.loads(text) == value
    assert canonical_text(json.loads(text)) == text


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb", "caf\udce9"])
def test_lone_surrogates_are_digested_and_never_stored(text: str) -> None:
    assert digest(text) != digest("\ufffd")
    assert canonical(text)
    storable(text).encode()
    canonical_text({text: [text]}).encode()


def test_numbers_that_json_lacks_become_null() -> None:
    assert canonical_text({"a": [float("nan"), float("inf"), 1.5]}) == '{"a":[null,null,1.5]}'


@pytest.mark.parametrize("kind", ["ocr", 'a "quoted" é', "a lone \ud800"])
@pytest.mark.parametrize("occurrence", [0, 3])
def test_an_id_around_known_json_is_the_id_of_the_whole(kind: str, occurrence: int) -> None:
    place = {"b": [1, 0.5, None], "a": "\ud800 é"}
    known = canonical(place).decode("utf-8", "surrogatepass")

    around = made_around("obs", ("sha256:0", kind), known, ("print", occurrence))

    assert around == made("obs", "sha256:0", kind, place, "print", occurrence)
