"""Supplied observations: what was read elsewhere, beside or instead of the local models.

A file of JSON rows (an array, or one object a line), each naming its asset by ``path`` or
``sha256``. A row that does not fit is noted and the rest go on.
"""

import json
import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError

from muniment.adapters.media.boxes import collapse_han_spaces
from muniment.pipeline.stages.run import Run
from muniment.store.errors import UsageError
from muniment.store.ids import digest
from muniment.store.ledger.evidence import observation_id
from muniment.store.records import Lenient, Locator, Observation, Origin, Producer, Unit
from muniment.store.times import now

STAGE = "supply"


class SuppliedProducer(Lenient):
    """Who read it."""

    adapter: Annotated[str, Field(min_length=1)]
    version: str = ""
    model: str = ""


class Supplied(Lenient):
    """One row of the file."""

    path: str | None = None
    sha256: Annotated[str | None, Field(pattern=r"^(sha256:)?[0-9a-f]{64}$")] = None
    kind: Annotated[str, Field(min_length=1)] = "text"
    text: Annotated[str, Field(min_length=1)]
    locator: Locator
    confidence: Unit = 0.0
    producer: SuppliedProducer
    origin: Origin = "media"
    language: str | None = None
    author: str | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)


def take_supplied(run: Run, file: Path) -> None:
    """Keep the rows of a file as observations of the assets that they name."""
    named = [found for found in _rows(run, file) if found is not None]
    named.sort(key=lambda item: (item[0], item[1].producer.adapter))
    for (asset, adapter), group in groupby(named, lambda i: (i[0], i[1].producer.adapter)):
        _write(run, asset, adapter, [row for _, row in group])


def _rows(run: Run, file: Path) -> Iterator[tuple[str, Supplied] | None]:
    for number, raw in enumerate(_parsed(file), start=1):
        try:
            row = Supplied.model_validate(raw)
            yield _asset_of(run, row), row
        except (ValidationError, LookupError) as error:
            said = error.errors()[0]["msg"] if isinstance(error, ValidationError) else error.args[0]
            message = f"row {number} of the supplied observations does not fit: {said}"
            run.tally.fail(os.fsencode(file), STAGE, "bad_observation", message)
            yield None


def _parsed(file: Path) -> list[Any]:
    try:
        text = file.read_text("utf-8")
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except OSError as error:
        raise UsageError(
            f"the observations can't be read: {error.strerror}", path=str(file)
        ) from error
    except (ValueError, RecursionError) as error:
        raise UsageError("the observations are not JSON", path=str(file)) from error


def _asset_of(run: Run, row: Supplied) -> str:
    assets = run.ledger.assets
    if row.sha256 is not None:
        asset = "sha256:" + row.sha256.removeprefix("sha256:")
        if assets.number(asset) is None:
            raise LookupError(f"no asset {asset} is registered")
        return asset
    if row.path is None:
        raise LookupError("it names no asset by path or sha256")
    found = assets.at_path(os.path.abspath(os.fsencode(row.path)))  # noqa: PTH100
    if not found:
        raise LookupError("nothing was registered at its path")
    return found[0]


def _write(run: Run, asset: str, adapter: str, rows: list[Supplied]) -> None:
    ledger = run.ledger
    number = ledger.assets.number(asset)
    assert number is not None  # it was found a moment ago, under the writer lock
    with ledger.unit():
        fingerprint = digest(STAGE, adapter)
        attempt = ledger.attempts.add(number, STAGE, adapter, fingerprint, status="ok", run=run.id)
        producers: dict[str, int] = {}
        observations = []
        for row in rows:
            producer = Producer(
                adapter=adapter, version=row.producer.version, model=row.producer.model,
                role=f"supplied:{adapter}",
            )  # fmt: skip
            known, print_ = ledger.evidence.producer(producer)
            producers[print_] = known
            observations.append(_observation(asset, row, print_))
        added = ledger.evidence.add(observations, number, producers, attempt)
    run.tally.add("observations", added)


def _observation(asset: str, row: Supplied, producer: str) -> Observation:
    locator = row.locator.model_dump()
    return Observation(
        # Whoever reads elsewhere may find several texts at one place: the text tells them apart.
        id=observation_id(asset, row.kind, [locator, digest(row.text)], producer, 0),
        asset=asset,
        kind=row.kind,
        # Programs that read Chinese set spaces between its characters, which nobody wrote.
        text=collapse_han_spaces(row.text) if row.kind == "ocr" else row.text,
        locator=row.locator,
        producer=producer,
        confidence=row.confidence,
        origin=row.origin,
        language=row.language,
        author=row.author,
        attributes=row.attributes,
        created_at=now(),
    )
