"""Packaged weights: find them without importing their package, and know them by their digest."""

import hashlib
from importlib.util import find_spec
from pathlib import Path

from muniment.store.errors import DamageError, MissingToolError


def package_folder(module: str, distribution: str) -> Path:
    """Return the folder of an installed package; ``MissingToolError`` when it is absent."""
    found = find_spec(module)
    if found is None or not found.submodule_search_locations:
        raise MissingToolError(
            f"the package {distribution} is not installed",
            hint=f"pip install {distribution}",
        )
    return Path(next(iter(found.submodule_search_locations)))


def read(path: Path, distribution: str) -> bytes:
    """Return a weight file's bytes; ``MissingToolError`` when it can't be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, distribution, error) from error


def verify(sha256: str, published: str, name: str, distribution: str) -> None:
    """Raise ``DamageError`` unless a digest is the published one."""
    if sha256 != published:
        raise DamageError(
            f"{name} of {distribution} is not the published file (SHA-256 differs)",
            code="model_digest",
            hint=f"pip install --force-reinstall {distribution}",
        )


def verified(path: Path, published: str, distribution: str) -> Path:
    """Return the path after its bytes were checked against the published SHA-256."""
    try:
        with path.open("rb") as stream:
            sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise _unreadable(path, distribution, error) from error
    verify(sha256, published, path.name, distribution)
    return path


def _unreadable(path: Path, distribution: str, error: OSError) -> MissingToolError:
    return MissingToolError(
        f"{path.name} of {distribution} can't be read: {error.strerror}",
        hint=f"pip install --force-reinstall {distribution}",
    )


def fingerprint(path: Path) -> list[tuple[str, int, str]]:
    """Tell a person's own model by the names, sizes and sampled contents of its files.

    Whole digests of gigabytes would be too slow for a value that every command compares; other
    weights of the same shape differ everywhere, so samples tell them apart.
    """
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return [_trait(item, path) for item in files if item.is_file()]


_SAMPLE_BYTES = 1024 * 1024


def _trait(path: Path, root: Path) -> tuple[str, int, str]:
    size = path.stat().st_size
    name = path.relative_to(root).as_posix() if path != root else path.name
    sampled = hashlib.sha256()
    with path.open("rb") as stream:
        for start in (0, size // 2, max(0, size - _SAMPLE_BYTES)):
            stream.seek(start)
            sampled.update(stream.read(_SAMPLE_BYTES))
    return name, size, sampled.hexdigest()
