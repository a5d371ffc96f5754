"""Commands that let a person look: a page of an answer, the desktop, the evidence browser."""

import contextlib
import os
import pty
import re
import subprocess
import time
from importlib import metadata
from pathlib import Path

import pytest
from support.album import Album, Parsed
from support.cli import SCRIPT, invoke


@pytest.fixture
def album(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Album:
    made = Album(tmp_path)
    made.store.close()
    monkeypatch.setenv("MUNIMENT_ROOT", str(made.root))
    monkeypatch.setenv("MUNIMENT_CACHE", str(made.cache))
    return made


def opener(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a desktop on the path that writes down what it is to open; return where."""
    told = folder / "opened"
    program = folder / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > "{told}.part"; mv "{told}.part" "{told}"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    return told


def wait_for(path: Path) -> str:
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    return path.read_text()


def test_recall_writes_a_page_that_stands_alone(album: Album) -> None:
    said = invoke("recall", "--format", "html", "Which number is the blue bar?")

    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("<!doctype html>\n")
    parsed = Parsed(said.out)
    assert parsed.active() == []
    assert len(parsed.of("image")) == 1


def test_json_beats_the_page(album: Album) -> None:
    said = invoke("--json", "recall", "--format", "html", "Which number is the blue bar?")

    assert said.json["schema"] == "muniment.pack/1"


def test_a_page_answers_one_question(album: Album, tmp_path: Path) -> None:
    (tmp_path / "queries").write_text('{"id": "1", "query": "x"}\n')

    said = invoke("recall", "--format", "html", "--queries-from", tmp_path / "queries")

    assert said.code == 2
    assert "one query" in said.err


def test_what_is_required_of_the_coverage_holds_for_a_page(album: Album) -> None:
    said = invoke("recall", "--format", "html", "--require", "supported", "submarine captain")

    assert said.code == 4
    assert "No evidence answers this question" in said.out


@pytest.mark.parametrize(
    ("which", "suffix"), [("bar", ".png"), ("said", ".wav"), ("hostile", ".txt")]
)
def test_show_open_hands_the_cited_part_to_the_desktop(
    album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, which: str, suffix: str
) -> None:
    told = opener(tmp_path, monkeypatch)

    said = invoke("--json", "show", f"observation:{getattr(album, which)}", "--open")

    assert said.code == 0, said
    opened = Path(wait_for(told))
    assert str(opened) == said.json["opened"]["file"]
    assert (opened.suffix, opened.is_relative_to(album.cache)) == (suffix, True)
    assert opened.stat().st_size == said.json["opened"]["bytes"] > 0


def test_what_might_be_run_is_not_opened(
    album: Album, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = opener(tmp_path, monkeypatch)
    found = invoke("--json", "show", f"observation:{album.hostile}").json["asset"]

    said = invoke("--json", "show", found, "--open")

    assert (said.code, said.json["error"]["code"]) == (2, "not_opened")
    assert not told.exists()


def test_without_a_desktop_it_says_what_to_do(
    album: Album, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_OPENER", "no-such-program")

    said = invoke("--json", "show", f"observation:{album.bar}", "--open")

    assert (said.code, said.json["error"]["code"]) == (14, "missing_tool")
    assert "--extract" in said.json["error"]["hint"]


def test_the_browser_without_its_packages_says_what_to_install(
    album: Album, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "starlette":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)

    said = invoke("--json", "serve", "web")

    assert (said.code, said.json["error"]["hint"]) == (14, "pip install 'muniment[web]'")
    checks = invoke("--json", "doctor").json["checks"]
    (check,) = [one for one in checks if (one["area"], one["name"]) == ("server", "web")]
    assert (check["ok"], check["needed"]) == (False, False)


def test_the_browser_needs_a_store_and_makes_none(tmp_path: Path, home: Path) -> None:
    said = invoke("--root", tmp_path / "none", "serve", "web", "--port", "0")

    assert said.code == 10
    assert not (tmp_path / "none").exists()


def on_a_terminal(*arguments: str, **environment: str) -> str:
    """Run a command whose output is a terminal; return all that it wrote there."""
    controller, terminal = pty.openpty()
    given = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
    process = subprocess.Popen(
        [SCRIPT, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=given
    )
    os.close(terminal)
    said = b""
    with contextlib.suppress(OSError):  # EIO: the command has gone
        while part := os.read(controller, 1 << 16):
            said += part
    os.close(controller)
    assert process.wait(60) == 0, said
    return said.decode()


def test_show_draws_what_is_cited_on_a_terminal_only(album: Album) -> None:
    drawn = on_a_terminal("show", f"observation:{album.bar}")

    assert "▀" in drawn
    grounds = [tuple(map(int, found)) for found in re.findall(r"48;2;(\d+);(\d+);(\d+)m", drawn)]
    assert any(ground == pytest.approx((20, 30, 160), abs=12) for ground in grounds)  # the bar
    assert any(ground == pytest.approx((232, 89, 12), abs=12) for ground in grounds)  # its frame
    assert "The blue bar is number 2047" in drawn
    assert "▀" not in on_a_terminal("show", f"observation:{album.bar}", "--no-preview")
    assert "\x1b" not in on_a_terminal("show", f"observation:{album.bar}", TERM="dumb")
    assert "\x1b" not in on_a_terminal("show", f"observation:{album.chat[0]}")
    assert "\x1b" not in invoke("show", f"observation:{album.bar}").out
