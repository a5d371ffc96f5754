"""Which formats the first bytes allow."""

import pytest

from muniment.adapters.media.demuxers import demuxer_for


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"\x00\x00\x00\x20ftypisom", "mov,mp4,m4a,3gp,3g2,mj2"),
        (b"\x00\x00\x00\x08wide\x00\x00\x00\x00mdat", "mov,mp4,m4a,3gp,3g2,mj2"),
        (b"\x1aE\xdf\xa3\x01", "matroska,webm"),
        (b"RIFF\x10\x00\x00\x00AVI LIST", "avi"),
        (b"RIFF\x10\x00\x00\x00WAVEfmt ", "wav"),
        (b"FORM\x00\x00\x00\x10AIFFCOMM", "aiff"),
        (b"OggS\x00\x02", "ogg"),
        (b"fLaC\x00", "flac"),
        (b"#!AMR-WB\n", "amr"),
        (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6", "asf"),
        (b"FLV\x01\x05", "flv"),
        (b"caff\x00\x01", "caf"),
        (b"\x00\x00\x01\xba\x44", "mpeg"),
        (b"\x0b\x77\x12\x34", "ac3,eac3"),
        (b"\xff\xfb\x90\x64", "mp3"),
        (b"\x00" * 40 + b"\xff\xfb\x90\x64", "mp3"),
        (b"\xff\xf1\x50\x80", "aac"),
        ((b"G" + bytes(187)) * 5, "mpegts"),
        ((bytes(4) + b"G" + bytes(187)) * 5, "mpegts"),
    ],
)
def test_a_format_is_known_by_its_magic(head: bytes, expected: str) -> None:
    assert demuxer_for(head) == expected


def test_a_tagged_stream_may_be_any_that_wears_such_a_tag() -> None:
    names = demuxer_for(b"ID3\x04\x00\x00")

    assert names is not None
    assert {"mp3", "aac", "flac"} <= set(names.split(","))
    assert "hls" not in names


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"#EXTM3U\n#EXT-X-TARGETDURATION:5\n",
        b"ffconcat version 1.0\nfile '/etc/passwd'\n",
        b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n",
        b"<?xml version='1.0'?><MPD></MPD>",
        b"\xff\xfe\x00\x00",
        b"\xff\xd8\xff\xe0\x00\x10JFIF",
        b"plain text",
    ],
)
def test_playlists_text_and_pictures_are_no_media(head: bytes) -> None:
    assert demuxer_for(head) is None
