"""The main job on the bundled samples: ingest, remember, recall, all in a store of its own."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from muniment.pipeline.output import printable

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
