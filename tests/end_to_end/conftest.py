"""The samples, ingested once with the real models through the installed command."""

from pathlib import Path

import pytest
from support.cli import Answer, execute

NAMES = ("note.md", "chat-zh.txt", "whiteboard.png", "memo.ogg", "standup.mp4", "letter-scan.pdf")
OWNER = "林梅"


class Ingested:
    """A store of the samples and what was said when it was made."""

    def __init__(self, root: Path, cache: Path, said: Answer) -> None:
        self.root = root
        self.cache = cache
        self.said = said

    def run(self, *arguments: str | Path) -> Answer:
        """Run a command over the store."""
        environment = {"MUNIMENT_ROOT": str(self.root), "MUNIMENT_CACHE": str(self.cache)}
        return execute(*arguments, environment=environment)


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Ingested:
    """Ingest every sample; the environment is empty but for where things go."""
    folder = tmp_path_factory.mktemp("samples")
    store = Ingested(folder / "root", folder / "cache", Answer(0, "", ""))
    files = [samples / name for name in NAMES]
    store.said = store.run("--json", "ingest", "--me", OWNER, "--offline", *files)
    return store
