from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from muniment.adapters.formats.decoded import quote
from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.plain_text import TextReader
from muniment.adapters.ports import Draft, Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import MissingToolError
from muniment.store.records import CharLocator


@dataclass
class FakeTools:
    """The budgets, and a language model that is absent unless it is given an answer."""

    limits: Limits = field(default_factory=Limits)
    answer: tuple[str, float] | None = None
    asked: list[str] = field(default_factory=list)

    def language_identifier(self) -> "FakeTools":
        if self.answer is None:
            raise MissingToolError("no model here")
        return self

    def identify(self, text: str) -> tuple[str, float]:
        self.asked.append(text)
        assert self.answer is not None
        return self.answer


def source(data: bytes, media_type: str = "text/plain") -> Source:
    return Source("sha256:0", len(data), media_type, "text", "a.txt", Path(), data=data)


def read(
    data: bytes, media_type: str = "text/plain", tools: FakeTools | None = None
) -> list[Finding]:
    return list(TextReader().read(source(data, media_type), cast("Tools", tools or FakeTools())))


def drafts(data: bytes, media_type: str = "text/plain") -> Iterator[Draft]:
    return (finding for finding in read(data, media_type) if isinstance(finding, Draft))


def located(draft: Draft) -> CharLocator:
    assert isinstance(draft.locator, CharLocator)
    return draft.locator


def test_each_paragraph_is_an_observation_with_its_span() -> None:
    first, second = drafts(b"One line.\r\nTwo lines.\r\n\r\nAnother.\r\n")

    assert (first.kind, first.text) == ("text", "One line.\r\nTwo lines.")
    assert located(first) == CharLocator(start=0, end=21, line_start=1, line_end=2)
    assert located(second) == CharLocator(start=25, end=33, line_start=4, line_end=4)
    assert first.confidence == 1.0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "big5", "cp932"])
def test_offsets_are_code_points_of_the_decoded_text(encoding: str) -> None:
    data = "日本\r\n\r\n本日\r\n".encode(encoding)
    text = decode(data).text
    for draft in drafts(data):
        where = located(draft)
        assert text[where.start : where.end] == draft.text
        assert quote(source(data), where.start, where.end, 1 << 30) == draft.text


def test_only_encodings_other_than_utf8_are_noted() -> None:
    (plain,) = drafts("héllo".encode())
    (western,) = drafts("Café déjà vu".encode("cp1252"))

    assert plain.attributes == {}
    assert western.attributes["encoding"] == "cp1252"
    assert western.confidence == western.attributes["encoding_confidence"] < 1.0


def test_markdown_passages_know_their_headings() -> None:
    text = b"# Trip\n\nIntro.\n\n## Food\n\nSoup.\n\n## Sleep\n\nNo.\n\n# Work\n\nMore.\n"

    assert [d.attributes["heading"] for d in drafts(text, "text/markdown")] == [
        "Trip",
        "Trip > Food",
        "Trip > Sleep",
        "Work",
    ]


def test_html_gives_what_a_reader_sees_as_it_stands_in_the_source() -> None:
    page = b"<html><head><style>p {x: y}</style><title>Tea</title></head>\n<body><!-- no --><p>I \
<b>love</b> tea &amp; milk.</p><script>var a = '<p>';</script><a href='x>y'>Link</a> after</body>"

    assert [d.text for d in drafts(page, "text/html")] == [
        "Tea",
        "I <b>love</b> tea &amp; milk.",
        "Link",
        "after",
    ]


def test_html_spans_hold_over_lines() -> None:
    page = b"<p>one</p>\r\n<p>two</p>\r\n"
    _, second = drafts(page, "text/html")

    assert located(second) == CharLocator(start=15, end=18, line_start=2, line_end=2)


@pytest.mark.parametrize("data", [b" \n\t\r\n", b"\xef\xbb\xbf", "\u200b\n".encode()])
def test_a_file_without_words_is_empty(data: bytes) -> None:
    assert read(data) == [Outcome("empty", "no_text", "nothing but white space")]


def test_text_over_the_limit_is_read_up_to_it() -> None:
    tools = FakeTools(limits=Limits(max_text_bytes=20))
    *found, outcome = read(b"First here.\n\nSecond one that is cut.", tools=tools)

    assert [cast("Draft", draft).text for draft in found] == ["First here.", "Second"]
    assert (cast("Outcome", outcome).status, cast("Outcome", outcome).code) == (
        "partial",
        "text_limit",
    )


def test_bytes_that_do_not_decode_make_it_partial() -> None:
    *_, outcome = read("这是一段足够长的文字，用来说明问题".encode() + b"\xff")

    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("partial", "undecodable_bytes")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("We will meet at the station.", "en"),
        ("我们在车站见面。", "zh"),
        ("駅で会いましょう。", "ja"),
        ("역에서 만나요.", "ko"),
        ("On peut écrire avec des accents,", None),
        ("x = 1", None),
    ],
)
def test_short_texts_get_their_language_from_the_script(text: str, language: str | None) -> None:
    (draft,) = drafts(text.encode())

    assert draft.language == language


def test_the_language_model_is_asked_once_for_long_text_that_no_script_names() -> None:
    tools = FakeTools(answer=("fr", 0.99))
    text = "Les élèves étudiaient près du château pendant que la pluie tombait. " * 60
    found = read(text.encode(), tools=tools)

    assert {cast("Draft", draft).language for draft in found} == {"fr"}
    assert len(tools.asked) == 1


def test_without_a_language_model_the_language_is_unknown() -> None:
    text = "Les élèves étudiaient près du château pendant que la pluie tombait. " * 60

    assert {d.language for d in drafts(text.encode())} == {None}


def test_reading_again_gives_equal_findings() -> None:
    data = ("A sentence here. " * 500 + "\n\n我们走。" * 50).encode()

    assert read(data) == read(data)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "large.txt"
    path.write_bytes(b"A line of an endless log.\n" * 800_000)
    large = Source(
        "sha256:0", path.stat().st_size, "text/x-log", "text", "a.log", Path(), path=path
    )
    reader = TextReader().read(large, cast("Tools", FakeTools()))
    for _ in range(100):  # past the check of the whole file, and imports
        next(reader)
    tracemalloc.start()
    for _ in range(500):
        next(reader)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 32 * 1024 * 1024


def test_attributes_can_be_written_as_json() -> None:
    import json

    attributes: list[Any] = [d.attributes for d in drafts("# 标题\n\n正文".encode("gb18030"))]

    assert json.loads(json.dumps(attributes)) == attributes
