"""Arguments and transcripts are bytes: any are taken in or refused by name, none is a crash."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.agents import Agent, event, lines
from support.cli import execute, invoke

from muniment.pipeline import cli

ODD = "x\udcff"  # how the byte 0xff comes in from a command line
# These wait for input or clients, or run the whole pipeline.
LEFT_OUT = {"completion", "demo", "serve"}


def commands(one: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield what to type for the arguments of every command, and for options of each name once."""
    context = click.Context(one)
    if isinstance(one, click.Group):
        for name in one.list_commands(context):
            found = one.get_command(context, name)
            if found is not None and (path or name not in LEFT_OUT):
                yield from commands(found, (*path, name))
        return
    given = [param for param in one.params if isinstance(param, click.Argument)]
    refs = any("ref" in str(param.name) for param in given)
    for prefix in ("", "record:", "session:") if refs else ("",) if given else ():
        yield (*path, *(_value(param, prefix + ODD) for param in given))
    for param in one.params:
        plain = isinstance(param.type, click.types.StringParamType)
        if isinstance(param, click.Option) and plain and param.name not in {"root", "config"}:
            yield (*path, *(_value(param, "x") for param in given), param.opts[0], ODD)


def _value(param: click.Parameter, text: str) -> str:
    return param.type.choices[0] if isinstance(param.type, click.Choice) else text


def test_no_bytes_of_an_argument_are_a_crash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "root"
    Agent(root).append(event(1, "I live in Rome."))
    crashed, options = [], set()

    for typed in commands(cli.cli):
        if typed[-2].startswith("-") and typed[-2] in options:
            continue
        options.add(typed[-2])
        said = invoke(
            "--json", "--root", root, "--offline", *typed, stdin=lines(event(2, "I like tea."))
        )
        if said.out and (said.json.get("error") or {}).get("code") == "internal":
            crashed.append(typed)

    assert not crashed


def test_odd_names_are_kept_as_text(tmp_path: Path) -> None:
    root = tmp_path / "root"
    said = execute(
        "--root", root, "--agent", b"a\xff", "--session", b"s\xff", "session", "append", b"hi \xff"
    )
    saved = execute("--root", root, "--session", b"s\xff", "checkpoint", "save", "--goal", b"g\xff")

    assert (said.code, saved.code) == (0, 0)
    shown = Agent(root).run("session", "show", "s\udcff")
    assert (shown["id"], shown["agent"]) == ("s\ufffd", "a\ufffd")
    assert shown["events"][0]["text"] == "hi \ufffd"
    assert Agent(root).run("checkpoint", "show", "s\ufffd")["goal"] == "g\ufffd"


def test_a_root_whose_path_is_not_utf_8_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path) + b"/\xff"

    said = execute("--json", "--root", root, "init")

    assert (said.code, said.json["error"]["code"]) == (2, "bad_value")
    assert not Path(os.fsdecode(root)).exists()


def test_a_list_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    said = Agent(tmp_path / "root").run("ingest", "--files-from", tmp_path / "none", code=2)

    assert said["error"]["path"] == str(tmp_path / "none")


def test_a_transcript_may_have_any_name(tmp_path: Path) -> None:
    root = tmp_path / "root"
    file = os.fsencode(tmp_path) + b"/\xff.jsonl"
    Path(os.fsdecode(file)).write_bytes(b'{"event_id": "e1", "role": "user", "text": "hello"}\n')

    first, again = (execute("--json", "--root", root, "host-ingest", "bot", file) for _ in range(2))

    assert (first.code, again.code) == (0, 0)
    assert (first.json["appended"], again.json["status"]) == (1, "replayed")
    assert first.json["sessions"] == ["\ufffd"]


HALF = "half \\ud83d emoji"  # as JSON writes half of a pair


@pytest.mark.parametrize("form", ["jsonl", "claude-code"])
def test_half_an_emoji_is_taken_in(tmp_path: Path, form: str) -> None:
    file = tmp_path / "s1.jsonl"
    said = {
        "jsonl": {"event_id": "e1", "role": "user", "text": "TEXT"},
        "claude-code": {"type": "user", "uuid": "e1", "sessionId": "s1", "message": {
            "role": "user", "content": "TEXT"}},
    }  # fmt: skip
    file.write_text(json.dumps(said[form]).replace("TEXT", HALF) + "\n")

    agent = Agent(tmp_path / "root")
    told = agent.run("host-ingest", form, file)

    assert (told["appended"], told["failed"]) == (1, [])
    assert agent.run("show", "event:e1")["text"] == "half \ufffd emoji"


def test_half_an_emoji_and_broken_utf_8_are_taken_in_by_append(tmp_path: Path) -> None:
    said = '{"event_id": "e1", "role": "user", "text": "' + HALF + '", "author": "\\udc00"}\n'
    bad = b'{"event_id": "e2", "role": "user", "text": "broken \xff byte"}\n'
    proposal = {"proposal": {"text": HALF, "quote": HALF, "ref": "e1"}}
    proposed = json.dumps(proposal).replace("\\\\ud83d", "\\ud83d").encode()
    agent = Agent(tmp_path / "root")

    told = agent.run("turn", "complete", "-", stdin=said.encode() + bad + proposed)

    assert told["appended"] == 2
    assert told["proposals"][0]["status"] == "pending"
    texts = [one["text"] for one in agent.run("session", "show", "default")["events"]]
    assert texts == ["half \ufffd emoji", "broken \ufffd byte"]


def test_a_time_that_can_not_be_read_is_no_reason_to_lose_a_transcript_s_message(
    tmp_path: Path,
) -> None:
    file = tmp_path / "s1.jsonl"
    entry = {"type": "user", "uuid": "e1", "sessionId": "s1", "timestamp": "yesterday",
             "message": {"role": "user", "content": "Hello."}}  # fmt: skip
    file.write_text(json.dumps(entry) + "\n")
    agent = Agent(tmp_path / "root")

    told = agent.run("host-ingest", "claude-code", file)

    assert (told["appended"], told["failed"]) == (1, [])
    assert agent.run("session", "show", "s1")["events"][0]["text"] == "Hello."
