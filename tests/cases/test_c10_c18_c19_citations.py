"""Missing inputs are told (C10); a quote names its own page and document (C18); Han stays (C19)."""

import json
from pathlib import Path

import pytest
from support.cli import invoke
from support.ingesting import Store
from support.media import BlindTools, findings
from support.pdf_builder import build, text

from muniment.adapters.ports import Draft, OcrLine

PAGE = "/MediaBox [0 0 612 792]"


def document(*pages: str) -> bytes:
    return build(*((PAGE, text(words, 72, 700, 14)) for words in pages))


def test_a_path_that_does_not_exist_is_told_and_the_rest_goes_on(
    store: Store, folder: Path
) -> None:
    (folder / "a.txt").write_text("words")

    found = store.ingest(folder / "a.txt", folder / "missing.txt")

    assert (found["exit"], found["registered"]) == (3, 1)
    assert [(one["path"], one["code"]) for one in found["failed"]] == [
        (str(folder / "missing.txt"), "missing")
    ]
    assert store.ingest(folder / "missing.txt")["exit"] == 1


def test_every_quote_is_cited_with_the_page_and_document_that_it_stands_on(
    store: Store, folder: Path
) -> None:
    (folder / "one.pdf").write_bytes(
        document(
            "The walrus sentence begins here and", "goes on to the penguin.", "Only a giraffe."
        )
    )
    (folder / "two.pdf").write_bytes(document("Nothing.", "A second giraffe stands here."))
    store.ingest(folder)

    asked = {
        word: json.loads(
            invoke("--root", store.root, "--json", "recall", "--no-semantic", word).out
        )["citations"]
        for word in ("walrus", "penguin", "giraffe")
    }

    places = {
        (one["name"], one["locator"]["page"], one["quote"])
        for many in asked.values()
        for one in many
    }
    assert ("one.pdf", 1, "The walrus sentence begins here and") in places
    assert ("one.pdf", 2, "goes on to the penguin.") in places
    assert ("one.pdf", 3, "Only a giraffe.") in places
    assert ("two.pdf", 2, "A second giraffe stands here.") in places
    for item in store.items("observations"):
        target = folder.parent / "page.txt"
        store.show(item["ref"], "--extract", target)
        assert target.read_text("utf-8") == item["text"]
        if item["kind"] == "page_text":
            store.show(item["ref"], "--extract", folder.parent / "page.png")
            assert (folder.parent / "page.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("seen", "recorded"),
    [
        ("你 好 世 界", "你好世界"),
        ("部 署 方 案 POL 358 号", "部署方案 POL 358 号"),
        ("hello 世 界 ok", "hello 世界 ok"),
        ("今 天 ， 天 气 好 。", "今天，天气好。"),
    ],
)
def test_spaces_between_han_characters_go_and_no_others(
    tmp_path: Path, seen: str, recorded: str
) -> None:
    from PIL import Image

    Image.new("RGB", (400, 60), "white").save(tmp_path / "line.png")
    quad = ((10.0, 10.0), (390.0, 10.0), (390.0, 50.0), (10.0, 50.0))
    tools = BlindTools(lines=[OcrLine(seen, 0.9, quad)])

    (line,) = [one for one in findings("picture", tmp_path / "line.png", tools)
               if isinstance(one, Draft)]  # fmt: skip

    assert line.text == recorded


def test_words_that_were_read_without_spaces_are_found(store: Store, folder: Path) -> None:
    (folder / "a.txt").write_text("你好世界，部署方案")
    rows = {"path": str(folder / "a.txt"), "kind": "ocr", "text": "虹 桥 火 车 站",
            "locator": {"type": "bbox", "x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0}, "confidence": 0.9,
            "producer": {"adapter": "elsewhere"}}  # fmt: skip
    (folder.parent / "rows.json").write_text(json.dumps([rows]))
    store.ingest(folder, "--observations", folder.parent / "rows.json")

    found = invoke("--root", store.root, "recall", "--no-semantic", "虹桥火车站").out

    assert "虹桥火车站" in found.partition("\n")[2]
