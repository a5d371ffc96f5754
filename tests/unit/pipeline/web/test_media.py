"""Media over HTTP: under safe types, by range, made once, gone with what they were made of."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from support.album import Album, bar_picture
from support.cli import invoke

from muniment.adapters import looking
from muniment.pipeline.options import Session
from muniment.pipeline.serving.warm import Warm
from muniment.pipeline.serving.web.media import Gallery
from muniment.pipeline.serving.web.ranges import ranged
from muniment.pipeline.view.cache import ViewCache
from muniment.store.errors import NotFoundError


def media(album: Album, warm: Warm, observation: str) -> str:
    with warm.reading(semantic=False) as opened:
        row = opened.ledger.evidence.get(observation)
    assert row is not None
    return row.asset.removeprefix("sha256:")


def test_a_picture_is_served_as_it_is(client: TestClient, album: Album, warm: Warm) -> None:
    answer = client.get(f"/media/{media(album, warm, album.bar)}")

    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(bar_picture())
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"


def test_what_could_run_is_a_file_to_save_under_a_name_of_ours(
    client: TestClient, album: Album, warm: Warm
) -> None:
    answer = client.get(f"/media/{media(album, warm, album.hostile)}")

    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment; filename=")
    assert "html" not in answer.headers["content-disposition"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_recording_is_served_by_range(client: TestClient, album: Album, warm: Warm) -> None:
    address = f"/media/{media(album, warm, album.said)}"
    whole = client.get(address)
    part = client.get(address, headers={"range": "bytes=100-199"})

    assert whole.headers["content-type"] == "audio/wav"
    assert (part.status_code, part.content) == (206, whole.content[100:200])
    assert part.headers["content-range"] == f"bytes 100-199/{len(whole.content)}"
    assert client.get(address, headers={"range": "bytes=99999999-"}).status_code == 416


@pytest.mark.parametrize(
    ("asked", "status", "body"),
    [(None, 200, b"0123456789"), ("bytes=2-4", 206, b"234"), ("bytes=8-", 206, b"89"),
     ("bytes=-3", 206, b"789"), ("bytes=5-99", 206, b"56789"), ("bytes=10-", 416, b""),
     ("bytes=4-2", 416, b""), ("bytes=-", 416, b""), ("lines=1-2", 416, b""),
     ("bytes=-99", 206, b"0123456789")],
)  # fmt: skip
def test_small_files_answer_ranges_too(asked: str | None, status: int, body: bytes) -> None:
    answer = ranged(b"0123456789", "audio/wav", {}, asked)

    assert (answer.status_code, bytes(answer.body)) == (status, body)
    assert answer.headers["accept-ranges"] == "bytes"


def test_a_span_of_what_browsers_do_not_play_is_made_playable(
    client: TestClient, album: Album
) -> None:
    answer = client.get(f"/clip/{album.said}", headers={"range": "bytes=4-7"})

    assert (answer.status_code, answer.content) == (206, b"ftyp")


def test_a_frame_of_a_film_is_a_picture(client: TestClient, album: Album) -> None:
    answer = client.get(f"/picture/{album.frame}")

    assert answer.headers["content-type"] == "image/jpeg"


def test_a_small_picture_is_made_once_outside_of_the_root(
    client: TestClient, album: Album, warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"/thumb/{media(album, warm, album.bar)}"
    first = client.get(address)
    monkeypatch.setattr(looking, "cover", None)

    assert client.get(address).content == first.content
    folder = ViewCache(warm.workspace).folder
    assert album.cache in folder.parents
    assert folder.stat().st_mode & 0o077 == 0


def test_what_has_no_picture_is_no_fault_of_the_server(
    client: TestClient, album: Album, warm: Warm
) -> None:
    assert client.get(f"/thumb/{media(album, warm, album.hostile)}").status_code == 422


def test_what_is_forgotten_is_shown_no_more_and_a_hard_forget_leaves_no_picture(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    album = Album(tmp_path)
    asset = album.asset_of(album.bar)
    album.store.close()
    monkeypatch.setenv("MUNIMENT_ROOT", str(album.root))
    monkeypatch.setenv("MUNIMENT_CACHE", str(album.cache))
    warm = Warm(Session({}))
    gallery = Gallery(warm)
    gallery.thumbnail(asset)
    gallery.clip(album.said)
    folder = ViewCache(warm.workspace).folder
    assert len(list(folder.iterdir())) == 2

    assert invoke("forget", f"observation:{album.said}", "--yes").code == 0
    with pytest.raises(NotFoundError):
        gallery.clip(album.said)
    assert invoke("forget", "--hard", asset, "--yes").code == 0

    assert not folder.exists()
    with pytest.raises(NotFoundError):
        gallery.thumbnail(asset)
    warm.close()
