from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient
from support.album import Album

from muniment.pipeline.options import Session
from muniment.pipeline.serving.warm import Warm
from muniment.pipeline.serving.web.app import build

TOKEN = "a-token-of-this-test"
PORT = 8378
HOST = f"http://127.0.0.1:{PORT}"


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Album:
    made = Album(tmp_path_factory.mktemp("album"))
    made.store.close()
    return made


@pytest.fixture(scope="module")
def warm(album: Album) -> Iterator[Warm]:
    made = Warm(Session({"root": str(album.root), "cache": str(album.cache), "lock_wait": 5.0}))
    yield made
    made.close()


@pytest.fixture(scope="module")
def stranger(warm: Warm) -> Iterator[TestClient]:
    """Ask without the token."""
    with TestClient(build(warm, TOKEN, PORT), HOST, follow_redirects=False) as client:
        yield client


@pytest.fixture
def client(stranger: TestClient) -> Iterator[TestClient]:
    """Ask with the cookie that the token gave."""
    assert stranger.get(f"/?token={TOKEN}").status_code == 303
    yield stranger
    stranger.cookies.clear()
