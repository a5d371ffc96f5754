import pickle
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from muniment.store import records
from muniment.store.records import (
    Candidate,
    CharLocator,
    Evidence,
    Lenient,
    MemberLocator,
    Moment,
    Observation,
    PageLocator,
    Strict,
)

LOCATORS: list[dict[str, Any]] = [
    {"type": "char", "start": 0, "end": 4, "line_start": 1, "line_end": 1},
    {"type": "page", "page": 3, "bbox": {"x": 0.1, "y": 0.2, "w": 0.3, "h": 0.4}},
    {"type": "page", "page": 1, "bbox": None},
    {"type": "bbox", "x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0, "quad": None, "page": None},
    {"type": "time", "start_ms": 0, "end_ms": 1500},
    {"type": "frame", "at_ms": 40, "bbox": None, "index": 1},
    {"type": "message", "index": 7, "author": "Ada", "sent_at": None},
    {"type": "cell", "sheet": "S", "range": "B2:D9"},
    {"type": "member", "path": "a/b.pdf", "inner": {"type": "page", "page": 2, "bbox": None}},
]
locator: TypeAdapter[Any] = TypeAdapter(records.Locator)


def observation(**changes: Any) -> Observation:
    values = {
        "id": "obs_1", "asset": "sha256:0", "kind": "text", "text": "x",
        "locator": CharLocator(start=0, end=1, line_start=1, line_end=1), "producer": "p",
        "origin": "user", "created_at": "2026",
    }  # fmt: skip
    return Observation(**values | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("plain", LOCATORS, ids=lambda plain: plain["type"])
def test_every_locator_reads_back_as_itself(plain: dict[str, Any]) -> None:
    assert locator.validate_python(plain).model_dump() == plain
    assert locator.validate_json(locator.dump_json(locator.validate_python(plain))) == (
        locator.validate_python(plain)
    )


@pytest.mark.parametrize(
    "plain",
    [
        {"type": "nowhere"},
        {"type": "page", "page": 0},
        {"type": "time", "start_ms": -1, "end_ms": 0},
        {"type": "bbox", "x": -0.1, "y": 0.0, "w": 1.0, "h": 1.0},
        {"type": "bbox", "x": float("nan"), "y": 0.0, "w": 1.0, "h": 1.0},
        {"type": "message", "index": "1"},
        {"type": "cell", "sheet": "S", "range": "A1", "extra": 1},
    ],
)
def test_a_place_that_cannot_be_is_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        locator.validate_python(plain)


def test_a_member_may_lie_in_a_member() -> None:
    nested = MemberLocator(path="a.zip", inner=MemberLocator(path="b", inner=PageLocator(page=1)))

    assert locator.validate_python(nested.model_dump()) == nested


def test_records_of_ours_neither_change_nor_take_what_they_do_not_know() -> None:
    one = observation()
    with pytest.raises(ValidationError):
        one.text = "y"
    with pytest.raises(ValidationError):
        observation(colour="red")
    with pytest.raises(ValidationError):
        observation(text=1)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, float("nan"), float("inf"), "0.5", None])
def test_confidence_lies_between_nothing_and_certainty(confidence: Any) -> None:
    with pytest.raises(ValidationError):
        observation(confidence=confidence)


def test_a_confidence_that_nobody_told_is_nothing() -> None:
    assert observation().confidence == 0.0


def test_origins_are_those_of_the_contract() -> None:
    for origin in ("user", "agent", "tool", "external", "media", "third_party"):
        assert observation(origin=origin).origin == origin
    with pytest.raises(ValidationError):
        observation(origin="assistant")


def test_a_moment_knows_something() -> None:
    assert Moment(local="2026-03", precision="month").utc is None
    with pytest.raises(ValidationError, match="utc or local"):
        Moment(offset="+08:00")


def test_a_claim_cites_something() -> None:
    values: dict[str, Any] = {
        "id": "c", "type": "semantic", "kind": "fact", "text": "x", "basis": "user_statement",
        "proposer": "rules", "created_at": "2026",
    }  # fmt: skip
    with pytest.raises(ValidationError):
        Candidate(**values, evidence=())
    quote = Evidence(observation="o", quote="x", start=0, end=1)
    assert Candidate(**values, evidence=(quote,)).status == "pending"


def test_a_record_never_executes_or_permits() -> None:
    fields = records.Record.model_fields
    assert fields["executable"].default is fields["grants_permissions"].default is False
    for name in ("executable", "grants_permissions"):
        with pytest.raises(ValidationError, match="literal_error"):
            records.Record.model_validate({name: True})


def test_records_from_elsewhere_are_read_with_patience() -> None:
    class Theirs(Lenient):
        count: int

    class Ours(Strict):
        count: int

    assert Theirs.model_validate({"count": "3", "new": 1}).count == 3
    with pytest.raises(ValidationError):
        Ours.model_validate({"count": "3"})


def test_a_copy_of_a_record_has_a_canonical_form_of_its_own() -> None:
    page = PageLocator(page=1)
    assert page.canonical == '{"bbox":null,"page":1,"type":"page"}'

    assert page.model_copy(update={"page": 2}).canonical == ('{"bbox":null,"page":2,"type":"page"}')
    assert pickle.loads(pickle.dumps(page)) == PageLocator(page=1)
