"""What is not built is escaped; what would act on a reader is shown instead."""

from hypothesis import given
from hypothesis import strategies as st
from support.album import Parsed

from muniment.pipeline.view.markup import Markup, join, name_of, tag


def test_a_text_between_tags_is_never_markup() -> None:
    assert tag("p", None, "<b>&amp;</b>") == "<p>&lt;b&gt;&amp;amp;&lt;/b&gt;</p>"


def test_a_value_can_not_leave_its_attribute() -> None:
    built = tag("a", {"href": '"><script>', "title": "' onclick=x"}, "x")

    assert Parsed(built).elements == [("a", {"href": '"><script>', "title": "' onclick=x"})]


def test_what_is_null_or_false_is_left_out_and_true_stands_alone() -> None:
    assert tag("input", {"type": None, "checked": True, "hidden": False}) == "<input checked>"


def test_controls_and_what_reorders_a_line_are_shown() -> None:
    assert join("a\u202eb\x1b\x00\ud800") == "a\\u202eb\\x1b\\x00\\ud800"
    assert name_of("a\nb\u2066") == "<bdi>a\\x0ab\\u2066</bdi>"


def test_only_what_was_built_passes_as_it_is() -> None:
    assert join(Markup("<hr>"), [None, "<hr>", [tag("br")]], 3) == "<hr>&lt;hr&gt;<br>3"


@given(st.text(), st.text())
def test_any_text_comes_back_as_one_element_with_one_attribute(value: str, words: str) -> None:
    parsed = Parsed(tag("p", {"title": value}, words))

    assert [name for name, _ in parsed.elements] == ["p"]
    assert list(parsed.of("p")[0]) == ["title"]
    assert parsed.active() == []
