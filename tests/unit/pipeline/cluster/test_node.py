from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Derived, ReaderSpec, Source
from muniment.pipeline.cluster import node
from muniment.pipeline.tasks import ReaderSetup, Task, TaskResult
from muniment.store.errors import StateError


def test_large_derived_files_travel_in_pieces_and_small_ones_along(tmp_path: Path) -> None:
    contents = [b"a" * 5, b"b" * (node.ALONG_BYTES + 3), b"c" * (2 * node.PIECE_BYTES)]
    findings = []
    for number, data in enumerate(contents):
        path = tmp_path / str(number)
        path.write_bytes(data)
        findings.append(Derived("member", name=str(number), path=path))
    put: list[bytes] = []

    def keep(piece: bytes) -> int:
        put.append(piece)
        return len(put) - 1

    answer = node.packed(TaskResult("key", [*findings], None, 1.0), keep)
    for path in tmp_path.iterdir():
        path.unlink()
    landed = node.unpacked(answer, tmp_path / "here", put.__getitem__)

    assert all(len(piece) <= node.PIECE_BYTES for piece in put)
    arrived = [one for one in landed.findings if isinstance(one, Derived)]
    assert [one.data or (one.path and one.path.read_bytes()) for one in arrived] == contents
    assert [one.name for one in arrived] == ["0", "1", "2"]


def test_bytes_that_the_node_does_not_see_are_a_transient_failure(tmp_path: Path) -> None:
    setup = ReaderSetup(ModelSettings())
    spec = ReaderSpec("any", "1", frozenset({"text"}), "parse", ("text",), "absent:Absent")
    source = Source("sha256:00", 2, "text/plain", "text", "a", tmp_path, tmp_path / "not-here")

    answer = node.read(setup, node.build_of(setup.models), Task("key", spec, source))

    failure = answer.result.failure
    assert failure is not None
    assert (failure.code, failure.transient) == ("asset_unreachable", True)


def test_a_node_that_would_read_in_another_way_refuses() -> None:
    with pytest.raises(StateError, match="other versions") as refused:
        node.embed(ModelSettings(), "another", ["text"])

    assert refused.value.code == "cluster_differs"


def test_nothing_to_embed_loads_no_session_and_gives_no_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Embedder:
        dimensions = 3

    monkeypatch.setattr(node, "_embedding", lambda _: (Embedder(), []))
    models = ModelSettings()

    rows, calls = node.embed(models, node.build_of(models), [])

    assert np.shape(rows) == (0, 3)
    assert calls == []


def test_the_build_follows_what_ids_follow() -> None:
    models = ModelSettings()

    assert node.build_of(models) == node.build_of(replace(models, threads=4))
    assert node.build_of(models) != node.build_of(replace(models, offline=True, roles={
        "describe": models.role("describe"), "embed": replace(models.role("embed"), path="/else"),
    }))  # fmt: skip
