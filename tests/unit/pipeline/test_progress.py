import io

import pytest

from muniment.pipeline.progress import Progress, ProgressLine, cells, duration, fit, render


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_state_is_drawn_with_bar_rate_and_time_left() -> None:
    state = Progress("observe", done=50, total=200, failed=2, seconds=10, note="a.jpg")

    assert render(state, 120) == (
        "observe [#####...............] 50/200 · 2 failed · 5.0/s · 30 s left · a.jpg"
    )


def test_an_unknown_total_has_no_bar_and_no_time_left() -> None:
    assert render(Progress("register", done=1234, seconds=2), 80) == "register 1,234 · 617.0/s"


def test_slow_items_are_told_by_the_time_of_one() -> None:
    state = Progress("transcribe", done=2, total=4, seconds=240)

    assert "2 min 00 s each · 4 min 00 s left" in render(state, 100)


def test_nothing_is_claimed_before_there_is_a_rate() -> None:
    assert render(Progress("observe", total=3), 80) == "observe [....................] 0/3"
    assert render(Progress("observe", total=0), 80) == "observe 0/0"


@pytest.mark.parametrize("width", [0, 1, 2, 10, 40, 79])
def test_a_line_never_exceeds_its_width(width: int) -> None:
    state = Progress("observe", done=1, total=9, seconds=5, note="会议记录" * 30 + "e\u0301" * 9)

    assert cells(render(state, width)) <= width


def test_wide_characters_take_two_cells_and_combining_marks_none() -> None:
    assert cells("会议a") == 5
    assert cells("e\u0301") == 1
    assert fit("会议记录", 5) == "会议…"


def test_controls_and_terminal_escapes_are_neutralised() -> None:
    line = render(Progress("observe", note="a\x1b[2Jb\r\nc\u202ed\udcff\x9b"), 200)

    assert line.isprintable()
    assert "\x1b" not in line
    assert line.endswith("a�[2Jb��c�d��")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.4, "59 s"), (60, "1 min 00 s"), (3599, "59 min 59 s"), (7380, "2 h 03 min")],
)
def test_durations_show_their_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_terminal_is_redrawn_five_times_a_second_at_most() -> None:
    stream, clock = Terminal(), Clock()
    line = ProgressLine(stream, clock=clock)
    line.start("observe", 100)
    for _ in range(100):
        clock.now += 0.01
        line.advance()
    line.finish()

    assert 5 <= stream.getvalue().count("\r") <= 8
    assert stream.getvalue().endswith("100/100 · 100.0/s\x1b[K\n")


def test_without_a_terminal_nothing_is_written() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream)
    line.start("observe", 2)
    line.advance(2)
    line.finish()

    assert stream.getvalue() == ""


def test_never_is_silent_on_a_terminal() -> None:
    stream = Terminal()
    line = ProgressLine(stream, "never")
    line.start("observe", 2)
    line.advance()
    line.finish()

    assert stream.getvalue() == ""


def test_always_writes_plain_lines_now_and_then() -> None:
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, "always", clock=clock)
    line.start("observe", 300)
    for _ in range(300):
        clock.now += 0.1
        line.advance(note="a.jpg")
    line.finish()

    lines = stream.getvalue().splitlines()
    assert 3 <= len(lines) <= 5
    assert all("\r" not in text and "\x1b" not in text for text in lines)
    assert "300/300" in lines[-1]


def test_a_note_to_the_person_does_not_tear_the_line() -> None:
    stream, clock = Terminal(), Clock()
    line = ProgressLine(stream, clock=clock)
    line.start("observe", 2)
    line.say("broken.pdf: encrypted\x1b[2J")

    assert stream.getvalue().endswith("\r\x1b[Kbroken.pdf: encrypted�[2J\n")


def test_a_tick_redraws_while_an_item_takes_long() -> None:
    stream, clock = Terminal(), Clock()
    line = ProgressLine(stream, clock=clock)
    line.start("observe", 2)
    drawn = len(stream.getvalue())
    line.tick()
    assert len(stream.getvalue()) == drawn
    clock.now += 1
    line.tick()
    assert len(stream.getvalue()) > drawn
