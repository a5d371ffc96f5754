"""The samples, ingested once with the real models through the installed command."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import Browser, browsing
from support.cli import Answer, execute
from support.looking import without_complaint

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


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as opened:
        opened.size(1100, 1000)
        yield opened


@pytest.fixture
def quiet(browser: Browser) -> Iterator[Browser]:
    """The browser, which must not complain nor leave this machine."""
    with without_complaint(browser):
        yield browser
