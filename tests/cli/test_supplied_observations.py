"""``ingest --observations``: what was read elsewhere is kept, cited, and checked row by row."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.cli import invoke


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUNIMENT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "root"


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "menu.bin"
    path.write_bytes(bytes(range(256)) * 8)
    return path


def row(picture: Path, **fields: Any) -> dict[str, Any]:
    return {
        "path": str(picture), "kind": "ocr", "text": "Soup of the day: leek and potato",
        "locator": {"type": "bbox", "x": 0.1, "y": 0.2, "w": 0.5, "h": 0.1}, "confidence": 0.9,
        "producer": {"adapter": "elsewhere", "version": "2"},
    } | fields  # fmt: skip


def ingest(root: Path, picture: Path, rows: list[Any], tmp_path: Path) -> Any:
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows))
    return invoke(
        "--root", root, "--json", "ingest", picture, "--no-embeddings", "--observations", file
    )  # fmt: skip


def test_a_supplied_text_is_recalled_and_cited_with_its_producer(
    root: Path, picture: Path, tmp_path: Path
) -> None:
    said = ingest(root, picture, [row(picture)], tmp_path)

    assert (said.code, said.json["observations"]) == (0, 1)
    pack = invoke("--root", root, "recall", "--format", "json", "leek and potato soup").json
    assert pack["citations"][0]["name"] == "menu.bin"
    assert (pack["citations"][0]["producer"], pack["citations"][0]["origin"]) == (
        "elsewhere", "media",
    )  # fmt: skip


def test_the_same_rows_again_add_nothing(root: Path, picture: Path, tmp_path: Path) -> None:
    ingest(root, picture, [row(picture)], tmp_path)

    assert ingest(root, picture, [row(picture)], tmp_path).json["observations"] == 0


def test_two_texts_at_one_place_are_two_observations(
    root: Path, picture: Path, tmp_path: Path
) -> None:
    rows = [row(picture), row(picture, text="Bread is baked here")]

    assert ingest(root, picture, rows, tmp_path).json["observations"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "/nowhere"},
        {"path": None},
        {"sha256": "0" * 64},
        {"sha256": "short"},
        {"text": ""},
        {"confidence": 2},
        {"locator": {"type": "nonsense"}},
        {"producer": {}},
    ],
)
def test_a_row_that_does_not_fit_is_named_and_the_rest_is_kept(
    root: Path, picture: Path, tmp_path: Path, fields: dict[str, Any]
) -> None:
    said = ingest(root, picture, [row(picture, **fields), row(picture)], tmp_path)

    assert (said.code, said.json["observations"]) == (3, 1)
    assert said.json["failed"][0]["code"] == "bad_observation"
    assert "row 1" in said.json["failed"][0]["message"]


@pytest.mark.parametrize("text", ["{", "[1, ", "[" * 100_000])
def test_a_file_that_is_not_json_is_refused(
    root: Path, picture: Path, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "rows.json"
    file.write_text(text)

    said = invoke("--root", root, "ingest", picture, "--no-embeddings", "--observations", file)

    assert said.code == 2
