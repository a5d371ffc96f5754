"""The wheel holds what the tree holds, and the locks hold what the project asks for."""

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
ROOMS = ("pipeline", "adapters", "store")
LOCKS = ("requirements-build.txt", "requirements.txt", "requirements-dev.txt")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lock: str) -> dict[str, str]:
    text = (CHECKOUT / lock).read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==(\S+) \\$", text, flags=re.MULTILINE))


def asked_for(requirements: list[str]) -> set[str]:
    return {canonical(re.split(r"[\s<>=!~\[;]", line, maxsplit=1)[0]) for line in requirements}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE", "MANIFEST.in", *LOCKS):
        shutil.copy(CHECKOUT / name, source)
    page = Path("docs", "reference", "muniment.1")
    (source / page.parent).mkdir(parents=True)
    shutil.copy(CHECKOUT / page, source / page)
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in (*ROOMS, "src", "samples"):
        shutil.copytree(CHECKOUT / name, source / name, symlinks=True, ignore=ignore)
    return source


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    work = tmp_path_factory.mktemp("wheel")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", work)
    subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", *options, source],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=300,
    )
    (built,) = work.glob("muniment-*.whl")
    with zipfile.ZipFile(built) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def sdist(source: Path, wheel: set[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, unpacked; built after the wheel, as both write into the source."""
    assert wheel
    work = tmp_path_factory.mktemp("sdist")
    program = f"from setuptools.build_meta import build_sdist; build_sdist({str(work)!r})"
    subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        cwd=source,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        timeout=300,
    )
    (built,) = work.glob("muniment-*.tar.gz")
    with tarfile.open(built) as archive:
        archive.extractall(work, filter="data")
    return built.with_name(built.name.removesuffix(".tar.gz"))


def test_the_source_distribution_holds_all_that_the_wheel_is_built_from(
    sdist: Path, wheel: set[str]
) -> None:
    held = {str(path.relative_to(sdist / "src")) for path in (sdist / "src").rglob("*")}

    assert {name for name in wheel if name.startswith("muniment/")} - held == set()
    assert not any(path.is_symlink() for path in sdist.rglob("*"))
    for name in ("LICENSE", "README.md", "requirements.txt", "docs/reference/muniment.1"):
        assert (sdist / name).is_file(), name
    assert not (sdist / "tests").exists()


def test_the_wheel_brings_the_manual_page(wheel: set[str]) -> None:
    assert [name for name in wheel if name.endswith("/share/man/man1/muniment.1")]


def test_the_wheel_holds_every_module(source: Path, wheel: set[str]) -> None:
    modules = [path for room in ROOMS for path in (source / room).rglob("*.py")]
    expected = {f"muniment/{path.relative_to(source)}" for path in modules}

    assert expected - wheel == set()
    assert {"muniment/__init__.py", "muniment/py.typed"} <= wheel


def test_the_wheel_adds_no_other_top_level_name(wheel: set[str]) -> None:
    tops = {name.split("/")[0] for name in wheel}

    assert {top for top in tops if not top.startswith("muniment-")} == {"muniment"}


def test_the_wheel_brings_the_samples_and_the_licence(wheel: set[str]) -> None:
    inputs = {path.name for path in (CHECKOUT / "samples").iterdir() if path.is_file()}
    inputs -= {"README.md", "make_samples.py"}
    packed = {name.rsplit("/", 1)[-1] for name in wheel if name.startswith("muniment/samples/")}

    assert packed - {"make_samples.py"} == inputs
    assert any(name.endswith("/licenses/LICENSE") for name in wheel)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_hashes(lock: str) -> None:
    text = (CHECKOUT / lock).read_text(encoding="utf-8")
    blocks = re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]

    assert blocks
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_pins_hashes_and_comments_only(lock: str) -> None:
    line = re.compile(
        r"|#.*|[\w.-]+==\S+( ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|    #.*"
    )
    lines = (CHECKOUT / lock).read_text(encoding="utf-8").splitlines()

    assert [text for text in lines if not line.fullmatch(text)] == []


def test_the_locks_cover_what_the_project_asks_for() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
    runtime = {canonical(name) for name in pins("requirements.txt")}
    development = {canonical(name) for name in pins("requirements-dev.txt")}

    assert asked_for(project["project"]["dependencies"]) - runtime == set()
    assert asked_for(project["project"]["optional-dependencies"]["dev"]) - development == set()
    assert asked_for(project["build-system"]["requires"]) == set(pins("requirements-build.txt"))


def test_development_uses_the_versions_that_users_get() -> None:
    development = pins("requirements-dev.txt")

    assert {n: v for n, v in pins("requirements.txt").items() if development.get(n) != v} == {}


def test_no_locked_package_is_a_second_deep_learning_framework() -> None:
    heavy = {"torch", "tensorflow", "jax", "paddlepaddle"}

    assert heavy & pins("requirements-dev.txt").keys() == set()
