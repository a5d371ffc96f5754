"""What is printed can't act on a terminal, and JSON is always one valid document."""

import base64
import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from muniment.pipeline.output import path_fields, printable, to_json

REORDERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_escapes_and_bidirectional_controls_are_shown_not_obeyed() -> None:
    assert printable("\x1b[31mred\u202e\x07\x9b") == "\\x1b[31mred\\u202e\\x07\\x9b"


def test_line_breaks_stay_in_text_and_go_from_one_line() -> None:
    assert printable("a\nb\tc") == "a\nb\tc"
    assert printable("a\nb", one_line=True) == "a\\x0ab"


def test_ordinary_text_of_any_script_is_untouched() -> None:
    text = "Grüße, 你好, мир, 👩‍👩‍👧 café"
    assert printable(text) == text


@given(st.text(st.characters(codec=None)))
def test_nothing_that_acts_is_printed_and_all_else_stays(text: str) -> None:
    shown = printable(text, one_line=True)

    assert {unicodedata.category(char) for char in shown}.isdisjoint({"Cc", "Cs", "Zl", "Zp"})
    assert {unicodedata.bidirectional(char) for char in shown}.isdisjoint(REORDERING)
    assert printable(shown, one_line=True) == shown
    kept = [char for char in text if printable(char) == char]
    assert all(char in shown for char in kept if char not in "\n\t")


@given(st.text())
def test_any_text_becomes_one_json_document_in_utf8(text: str) -> None:
    assert json.loads(to_json({"text": text}).encode("utf-8")) == {"text": text}


@given(st.binary())
def test_a_path_comes_back_whatever_its_bytes(path: bytes) -> None:
    fields = path_fields(path)

    if "path_b64" in fields:
        assert base64.b64decode(fields["path_b64"]) == path
    else:
        assert fields["path"].encode("utf-8") == path
