from pathlib import Path

import pytest
from support.cli import Answer, invoke


def filled(root: Path, folder: Path) -> None:
    folder.mkdir()
    (folder / "one.md").write_text("The boiler was serviced on Monday.")
    (folder / "two.md").write_text("The key lies under the third pot.")
    done(root, "ingest", "--no-embeddings", "--source", "书桌 $x$", str(folder))
    done(root, "remember", "I like green tea")
    done(root, "recall", "where is the key")


def done(root: Path, *arguments: str) -> Answer:
    answer = invoke("--root", str(root), *arguments)
    assert answer.code == 0, answer.err
    return answer


def test_series_hold_what_was_taken_in_and_how_long_recalls_took(tmp_path: Path) -> None:
    root = tmp_path / "root"
    filled(root, tmp_path / "notes")

    series = done(root, "--json", "stats").json

    assert sum(sum(kinds.values()) for kinds in series["media"].values()) >= 2
    assert list(series["memories"].values()) == [{"preference": 1}]
    assert series["sources"]["书桌 $x$"] == 2
    assert series["growth"][-1]["bytes"] >= 67
    assert [one["milliseconds"] > 0 for one in series["recalls"]] == [True]
    assert "recalls: the last 1" in done(root, "stats").out


@pytest.mark.parametrize(
    ("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_plots_are_drawn_in_the_format_of_the_suffix(
    tmp_path: Path, suffix: str, begins: bytes
) -> None:
    pytest.importorskip("matplotlib")
    root = tmp_path / "root"
    filled(root, tmp_path / "notes")
    sheet = tmp_path / f"sheet.{suffix}"

    done(root, "stats", "--plot", str(sheet))

    assert sheet.read_bytes().startswith(begins)


def test_an_empty_scope_has_plots_too_and_an_unknown_format_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    root = tmp_path / "root"
    done(root, "init")

    done(root, "stats", "--plot", str(tmp_path / "empty.png"))
    refused = invoke("--root", str(root), "stats", "--plot", str(tmp_path / "sheet.docx"))

    assert (tmp_path / "empty.png").stat().st_size > 1000
    assert refused.code == 2
    assert "png, svg, pdf" in refused.err
