"""The guarded runner: limits, streams, signals and the environment of a child."""

import sys
import time
from pathlib import Path

import pytest

from muniment.adapters.process import RunLimits, find_program, run, running
from muniment.store.errors import InputError, MissingToolError

PYTHON = sys.executable


def python(code: str) -> list[str]:
    return [PYTHON, "-I", "-c", code]


def test_the_output_of_a_program_comes_back() -> None:
    assert run(python("print('hi')"), RunLimits()) == b"hi\n"


def test_a_child_reads_nothing_from_the_callers_input() -> None:
    code = "import sys; print(len(sys.stdin.read()))"

    assert run(python(code), RunLimits()) == b"0\n"


def test_a_child_gets_path_language_and_home_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")

    names = run(python("import os; print(sorted(os.environ))"), RunLimits()).decode()

    assert "SECRET_KEY" not in names
    assert {"HOME", "LANG", "PATH"} <= set(eval(names)) <= {"HOME", "LANG", "LC_CTYPE", "PATH"}


def test_a_failing_program_is_an_error_with_its_last_words() -> None:
    with pytest.raises(InputError, match="no such codec") as caught:
        run(python("import sys; sys.exit('no such codec')"), RunLimits())

    assert caught.value.code == "tool_failed"


def test_a_program_that_hangs_is_stopped_with_its_children(tmp_path: Path) -> None:
    left = tmp_path / "left"
    child = f"import time,pathlib; time.sleep(2); pathlib.Path({str(left)!r}).touch()"
    code = (
        f"import subprocess,sys,time; subprocess.Popen([sys.executable,'-c',{child!r}]);"
        "time.sleep(60)"
    )
    started = time.monotonic()

    with pytest.raises(InputError) as caught:
        run(python(code), RunLimits(wall_seconds=0.8))

    assert (caught.value.code, caught.value.transient) == ("time_limit", True)
    assert time.monotonic() - started < 10
    time.sleep(2)
    assert not left.exists()


def test_a_program_that_burns_processor_time_is_stopped() -> None:
    with pytest.raises(InputError) as caught:
        run(python("while True: pass"), RunLimits(wall_seconds=30, cpu_seconds=1))

    assert caught.value.code == "time_limit"


def test_a_program_can_not_take_more_memory_than_it_may() -> None:
    with pytest.raises(InputError) as caught:
        run(
            python("import time; time.sleep(.3); x = bytearray(10**9)"),
            RunLimits(memory_bytes=500 * 2**20),
        )

    assert caught.value.code == "tool_failed"
    assert "MemoryError" in str(caught.value)


def test_a_program_can_not_write_a_larger_file_than_it_may(tmp_path: Path) -> None:
    target = tmp_path / "big"
    code = f"import time; time.sleep(.3); open({str(target)!r}, 'wb').write(bytes(10**7))"

    with pytest.raises(InputError) as caught:
        run(python(code), RunLimits(file_bytes=10**6))

    assert caught.value.code in {"output_limit", "tool_failed"}
    assert target.stat().st_size <= 10**6


def test_output_beyond_the_ceiling_is_refused_not_kept() -> None:
    with pytest.raises(InputError) as caught:
        run(python("print('x' * 10**6)"), RunLimits(), max_output_bytes=1000)

    assert caught.value.code == "output_limit"


def test_only_the_last_of_a_long_complaint_is_kept() -> None:
    code = "import sys; sys.stderr.write('spam\\n' * 10**5 + 'the end\\n')"
    with running(python(code), RunLimits()) as program:
        program.read(1)
        ended = program.end()

    assert ended.stderr.endswith("the end\n")
    assert len(ended.stderr) <= 8192


def test_lines_that_are_taken_do_not_fill_the_buffer() -> None:
    heard: list[str] = []

    def take(line: str) -> bool:
        heard.append(line)
        return line.startswith("frame")

    code = "import sys; sys.stderr.write('frame 1\\nbad\\nframe 2\\n')"
    with running(python(code), RunLimits(), on_line=take) as program:
        program.read(1)
        ended = program.end()

    assert (heard, ended.stderr) == (["frame 1", "bad", "frame 2"], "bad\n")


def test_leaving_early_ends_the_program() -> None:
    with running(python("import time; print('x', flush=True); time.sleep(60)"), RunLimits()) as one:
        one.read(1)
        started = time.monotonic()

    assert time.monotonic() - started < 5


def test_a_named_program_wins_over_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "my ffmpeg"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    monkeypatch.setenv("MUNIMENT_FFMPEG", str(own))

    assert find_program("ffmpeg") == str(own)


def test_an_empty_path_still_finds_the_usual_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("MUNIMENT_FFMPEG", raising=False)

    assert Path(find_program("ffmpeg")).is_absolute()


def test_an_absent_program_is_a_missing_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNIMENT_FFMPEG", "/nowhere/ffmpeg")

    with pytest.raises(MissingToolError):
        find_program("ffmpeg")
    with pytest.raises(MissingToolError):
        run(["/nowhere/ffmpeg"], RunLimits())
