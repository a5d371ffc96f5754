"""The shape of the tree: links, sizes, directions, and nothing of one machine in it."""

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
ROOMS = ("pipeline", "adapters", "store")
LINKED = (*ROOMS, "samples")
# What adapters may know of the store: its nouns, its errors, and how ids and times are written.
# None of these opens a file.
VALUES = {"store.records", "store.errors", "store.ids", "store.times"}
# What an index engine of its own shares with the default one, so that both give the same answers:
# the analysis of text, what goes in and comes out. These open no file either.
INDEXED = {"store.text", "store.index.documents", "store.index.told", "store.index.match"}
MAY_IMPORT = {
    "pipeline": {"pipeline", "adapters", "store"},
    "adapters": {"adapters", *VALUES, *INDEXED},
    "store": {"store"},
}
MOST_CODE_LINES = 300
BINARY = {".png", ".ogg", ".mp4", ".pdf", ".wav", ".jpg"}
# Spelt in pieces, or this file would find itself.
NOT_TRACKED = re.compile(
    "|".join(
        (
            r"/(?:root|home/[a-z][\w-]*)/[\w.]",
            r"(?<![\w.])/wo" + r"rk/",
            r"py" + r"pi\.org",
            r"pythonhos" + r"ted",
            r"--(?:extra-)?index" + r"-url[ =]\S*[:/]",
            r"--find" + r"-links",
        )
    )
)
# The options by which the lock is kept free of addresses are named where they are given.
NAMES_THE_OPTIONS = {Path(".ci/lock.sh")}


def modules() -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((CHECKOUT / room).rglob("*.py"))


def relative(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


def code_lines(path: Path) -> int:
    lines = (line.strip() for line in path.read_text(encoding="utf-8").splitlines())
    return sum(1 for line in lines if line and not line.startswith("#"))


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{'.' * node.level}{node.module or ''}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names if node.module)


def allowed(room: str, name: str) -> bool:
    if name.split(".", maxsplit=1)[0] in ROOMS or name.startswith("."):
        return False
    inner = name.removeprefix("muniment.")
    if inner == name or inner.split(".", maxsplit=1)[0] not in ROOMS:
        return True
    if inner in ROOMS:  # the first half of ``from muniment.store import records``
        return any(entry.split(".", maxsplit=1)[0] == inner for entry in MAY_IMPORT[room])
    return any(inner == entry or inner.startswith(f"{entry}.") for entry in MAY_IMPORT[room])


def tracked_files() -> list[Path]:
    if not (CHECKOUT / ".git").exists():
        pytest.skip("not a clone")
    listing = subprocess.run(
        ["git", "-c", f"safe.directory={CHECKOUT}", "ls-files", "-z"],
        cwd=CHECKOUT,
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
    )
    return [Path(os.fsdecode(name)) for name in listing.stdout.split(b"\0") if name]


@pytest.mark.parametrize("name", LINKED)
def test_each_folder_is_linked_into_the_package(name: str) -> None:
    link = CHECKOUT / "src" / "muniment" / name

    assert link.readlink() == Path("..", "..", name)
    assert any(link.iterdir())


@pytest.mark.parametrize("module", sorted(VALUES))
def test_what_adapters_know_of_the_store_opens_no_file(module: str) -> None:
    path = CHECKOUT / f"{module.replace('.', '/')}.py"
    names = set(imported(ast.parse(path.read_bytes())))
    ours = {name for name in names if name.startswith("muniment.")}

    assert {name for name in ours if not allowed("adapters", name)} == set()
    assert names & {"os", "pathlib", "apsw", "sqlite3", "io", "shutil"} == set()


def test_the_package_folder_holds_no_code_of_its_own() -> None:
    entries = {entry.name for entry in (CHECKOUT / "src" / "muniment").iterdir()}

    assert entries - {"__pycache__"} == {"__init__.py", "py.typed", *LINKED}


def test_every_source_file_fits_the_limit() -> None:
    # A migration is one statement of the schema at one version; splitting it would hide the order.
    files = [path for path in modules() if path.parent.name != "migrations"]
    lengths = {relative(path): code_lines(path) for path in files}

    assert {name: n for name, n in lengths.items() if n > MOST_CODE_LINES} == {}


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in modules()}

    assert sorted(relative(f) for f in folders if not (f / "__init__.py").is_file()) == []


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_from_pipeline_to_adapters_to_store(room: str) -> None:
    wrong = [
        f"{relative(path)}: {name}"
        for path in sorted((CHECKOUT / room).rglob("*.py"))
        for name in imported(ast.parse(path.read_bytes()))
        if not allowed(room, name)
    ]

    assert wrong == []


def test_no_tracked_text_names_a_machine_path_or_a_registry() -> None:
    found = []
    for path in tracked_files():
        if path.suffix in BINARY or path in NAMES_THE_OPTIONS or not (CHECKOUT / path).is_file():
            continue
        text = (CHECKOUT / path).read_text(encoding="utf-8", errors="replace")
        found += [f"{path}: {match.group()}" for match in NOT_TRACKED.finditer(text)]

    assert found == []


def test_the_samples_are_small() -> None:
    assert sum(path.stat().st_size for path in (CHECKOUT / "samples").iterdir()) < 1_500_000
