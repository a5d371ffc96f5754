"""What runs on the nodes of a cluster. Each call is answered by a process that may be lost at any
moment; it keeps nothing but loaded models.

Reading itself runs in a reading process of its own (:mod:`muniment.pipeline.worker`), as on one
machine: so limits of time and memory hold here, too, and a reader that crashes takes nothing along.
"""

import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from muniment import __version__
from muniment.adapters import registry
from muniment.adapters.ports import Derived, Finding, ModelCall, Source
from muniment.pipeline.executor import Pool
from muniment.pipeline.processes import ENVIRONMENT
from muniment.pipeline.tasks import Failure, ReaderSetup, Task, TaskResult
from muniment.store.errors import StateError
from muniment.store.ids import digest

if TYPE_CHECKING:
    import numpy as np

    from muniment.adapters.models.settings import ModelSettings
    from muniment.adapters.ports import Embedder

# Derived bytes up to this size travel with the answer, larger ones beside it in pieces.
ALONG_BYTES = 1024 * 1024
PIECE_BYTES = 16 * 1024 * 1024
_PREFIX = "muniment-node-"

Put = Callable[[bytes], Any]
Get = Callable[[Any], bytes]


@dataclass(frozen=True, slots=True)
class Answer:
    """A result as it travels: ``pieces`` are the bytes of large derived files by finding."""

    result: TaskResult
    pieces: dict[int, list[Any]]


def build_of(models: "ModelSettings") -> str:
    """Return a digest of this version, its readers and their models: what ids depend on."""
    readers = [registry.fingerprint(spec, models) for spec in registry.readers()]
    embed = registry.model_spec("embed", models)
    made = None if embed is None else registry.producer("embed", models).fingerprint
    return digest(__version__, readers, made)


def read(setup: ReaderSetup, build: str, task: Task) -> Answer:
    """Read one asset; raises ``StateError`` on a node that would read it in another way."""
    _require_same(setup.models, build)
    with _scratch() as folder:
        source = replace(task.source, scratch=folder)
        unreachable = _unreachable(source)
        if unreachable is not None:
            return Answer(TaskResult(task.key, [], unreachable, 0.0), {})
        (result,) = _reading(setup).run([replace(task, source=source)])
        return packed(result, _put)


def embed(
    models: "ModelSettings", build: str, texts: Sequence[str]
) -> "tuple[np.ndarray, list[ModelCall]]":
    """Return one unit row a text, and the audit rows of remote calls."""
    import numpy as np

    _require_same(models, build)
    embedder, calls = _embedding(models)
    rows = embedder.passages(texts) if texts else np.zeros((0, embedder.dimensions), np.float32)
    taken, calls[:] = list(calls), []
    return rows, taken


def describe(models: "ModelSettings") -> dict[str, str]:
    """Return what decides whether a node reads as its driver does."""
    return {
        "host": platform.node(),
        "muniment": __version__,
        "python": platform.python_version(),
        "build": build_of(models),
    }


def packed(result: TaskResult, put: Put) -> Answer:
    """Take derived files along as bytes: the folder they lie in stays behind."""
    findings: list[Finding] = []
    pieces: dict[int, list[Any]] = {}
    for finding in result.findings:
        if isinstance(finding, Derived) and finding.path is not None:
            with finding.path.open("rb") as stream:
                first = stream.read(ALONG_BYTES)
                if finding.path.stat().st_size > ALONG_BYTES:
                    rest = iter(lambda: stream.read(PIECE_BYTES), b"")
                    pieces[len(findings)] = [put(piece) for piece in (first, *rest)]
                    first = b""
            findings.append(replace(finding, data=first, path=None))
        else:
            findings.append(finding)
    return Answer(replace(result, findings=findings), pieces)


def unpacked(answer: Answer, folder: Path, get: Get) -> TaskResult:
    """Return the result, with large derived files written into a folder of this machine."""
    findings = list(answer.result.findings)
    for number, pieces in answer.pieces.items():
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"derived-{number}"
        with path.open("wb") as stream:
            for piece in pieces:
                stream.write(get(piece))
        finding = findings[number]
        assert isinstance(finding, Derived)
        findings[number] = replace(finding, data=None, path=path)
    return replace(answer.result, findings=findings)


def _put(piece: bytes) -> Any:
    import ray

    return ray.put(piece)


def _unreachable(source: Source) -> Failure | None:
    """Tell why the bytes can't be read here: a node need not see the folder of the store."""
    if source.path is None or source.path.is_file():
        return None
    return Failure(
        "asset_unreachable", f"the node {platform.node()} does not see the bytes", transient=True,
        hint="give every node the root at the same path, or keep assets in an object store",
    )  # fmt: skip


@contextmanager
def _scratch() -> Iterator[Path]:
    """Yield an empty folder of this node."""
    _sweep_once()
    with tempfile.TemporaryDirectory(
        prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@cache
def _sweep_once() -> None:
    """Remove what processes left behind that were lost in mid-task."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        process = left.name.removeprefix(_PREFIX).partition("-")[0]
        if process.isdigit() and not psutil.pid_exists(int(process)):
            shutil.rmtree(left, ignore_errors=True)


def _require_same(models: "ModelSettings", build: str) -> None:
    if _build_once(models) != build:
        raise StateError(
            f"the node {platform.node()} runs other versions than this machine",
            code="cluster_differs", hint="install the same packages; see: muniment doctor",
        )  # fmt: skip


class _Once:
    """What one process keeps from call to call, made anew when it is asked for with other words."""

    reading: tuple[ReaderSetup, Pool] | None = None
    embedding: "tuple[ModelSettings, Embedder, list[ModelCall]] | None" = None
    build: "tuple[ModelSettings, str] | None" = None


def _build_once(models: "ModelSettings") -> str:
    if _Once.build is None or _Once.build[0] != models:
        _Once.build = (models, build_of(models))
    return _Once.build[1]


def _reading(setup: ReaderSetup) -> Pool:
    if _Once.reading is not None and _Once.reading[0] != setup:
        _Once.reading[1].close()
        _Once.reading = None
    if _Once.reading is None:
        _Once.reading = (setup, Pool(setup, jobs=1))
    return _Once.reading[1]


def _embedding(models: "ModelSettings") -> "tuple[Embedder, list[ModelCall]]":
    if _Once.embedding is None or _Once.embedding[0] != models:
        os.environ.update(ENVIRONMENT)  # read by the model runtimes when they are loaded
        calls: list[ModelCall] = []
        _Once.embedding = (models, registry.model("embed", models, calls.append), calls)
    return _Once.embedding[1:]
