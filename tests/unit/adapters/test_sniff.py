from pathlib import Path

import pytest

from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.sniff import HEAD_BYTES, TAIL_BYTES, Sniffed, sniff


def sniffed(data: bytes, name: str = "file") -> Sniffed:
    return sniff(data[:HEAD_BYTES], data[-TAIL_BYTES:], len(data), name)


def box(kind: bytes, payload: bytes) -> bytes:
    return (len(payload) + 8).to_bytes(4, "big") + kind + payload


def mp4(brand: bytes, *handlers: bytes) -> bytes:
    tracks = b"".join(box(b"hdlr", b"\0" * 8 + handler + b"\0" * 12) for handler in handlers)
    return box(b"ftyp", brand + b"\0\0\2\0isom") + box(b"moov", tracks)


def zip_with(member: bytes) -> bytes:
    return b"PK\x03\x04" + b"\0" * 26 + member + b"content"


PACKAGE = zip_with(b"[Content_Types].xml")


@pytest.mark.parametrize(
    ("data", "family"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio"),
        (b"RIFF\0\0\0\0AVI LIST", "video"),
        (mp4(b"heic"), "image"),
        (mp4(b"avif"), "image"),
        (mp4(b"M4A "), "audio"),
        (mp4(b"isom", b"soun"), "audio"),
        (mp4(b"isom", b"soun", b"vide"), "video"),
        (mp4(b"isom"), "video"),
        (b"OggS\0\2" + b"\0" * 22 + b"\x01\x13OpusHead", "audio"),
        (b"OggS\0\2" + b"\0" * 22 + b"\x01\x2a\x80theora", "video"),
        (b"\x1a\x45\xdf\xa3" + b"webm" + b"\x86\x86A_OPUS", "audio"),
        (b"\x1a\x45\xdf\xa3" + b"webm" + b"V_VP9A_OPUS", "video"),
        (b"\xff\xfb\x90\x64" + b"\0" * 400, "audio"),
        (b"\xff\xf1\x50\x80" + b"\0" * 400, "audio"),
        (b"ID3\x04\0\0\0\0\0\0", "audio"),
        ((b"G" + b"\0" * 187) * 5, "video"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "pdf"),
        (b"\n\n%PDF-1.4 plain", "pdf"),
        (PACKAGE + zip_with(b"word/document.xml"), "office.docx"),
        (PACKAGE + zip_with(b"ppt/presentation.xml"), "office.pptx"),
        (PACKAGE + zip_with(b"xl/workbook.xml"), "office.xlsx"),
        (zip_with(b"word/list.txt"), "archive"),
        (zip_with(b"mimetypeapplication/epub+zip"), "epub"),
        (zip_with(b"mimetypeapplication/vnd.oasis.opendocument.text"), "opendocument"),
        (zip_with(b"photos/one.jpg"), "archive"),
        (b"\0" * 257 + b"ustar\x0000", "archive"),
        (b"\x1f\x8b\x08\0", "archive"),
        (b"SQLite format 3\0", "database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "office.legacy"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "__substg1.0_".encode("utf-16-le"), "mail"),
        (b"wOF2\0\1\0\0", "font"),
        (b"\x7fELF\x02\x01\x01", "binary"),
        (b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\n", "calendar"),
        (b"BEGIN:VCARD\r\nFN:Ann\r\n", "contact"),
        (b"From: ann@example.org\r\nSubject: hello\r\n\r\nbody", "mail"),
        (b"From ann@example.org Thu Jan  1 10:00:00 2026\nSubject: x\n\nbody\n", "mail"),
        (b"{\\rtf1\\ansi text}", "rtf"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.000\nhi\n", "subtitle"),
        (b"1\r\n00:00:01,000 --> 00:00:02,000\r\nhi\r\n", "subtitle"),
        (b"[Script Info]\nTitle: x\n", "subtitle"),
        (b"\x00\x01\x02\x03\x04binary\x05\x06", "binary"),
        (bytes(range(256)) * 4, "binary"),
        (b"", "empty"),
    ],
)
def test_content_names_the_family(data: bytes, family: str) -> None:
    assert sniffed(data).family == family


def test_the_suffix_never_beats_magic() -> None:
    assert sniffed(b"\x89PNG\r\n\x1a\n....", "notes.txt").family == "image"


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("a.md", "text/markdown"),
        ("a.CSV", "text/csv"),
        ("a.py", "text/x-source"),
        ("a.html", "text/plain"),
        ("a", "text/plain"),
        ("a.mp3", "text/plain"),
    ],
)
def test_the_suffix_chooses_among_kinds_of_text(name: str, media_type: str) -> None:
    assert sniffed(b"plain words, nothing else\n", name) == Sniffed(media_type, "text")


def test_playlists_and_concat_scripts_are_text() -> None:
    assert sniffed(b"#EXTM3U\n#EXTINF:10,\nfile:///etc/other.mp4\n").family == "text"
    assert sniffed(b"ffconcat version 1.0\nfile 'a.mp4'\n").family == "text"


@pytest.mark.parametrize("words", ["ID3 tags explained", "BM is a car", "The free moov", "GIF art"])
def test_prose_that_begins_like_a_magic_number_is_text(words: str) -> None:
    assert sniffed(words.encode()).family == "text"


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "gb18030"],
)
def test_text_in_any_encoding_is_text(encoding: str) -> None:
    assert sniffed("部署方案已经发给你了，请查收 thanks\n".encode(encoding)).family == "text"


@pytest.mark.parametrize(
    "data",
    [
        b"The key is under\0 the blue pot.\n",
        b"aligned \0at an even place, too\n",
        b"a log that a crash cut short\n".ljust(50, b"\0"),
        b"\0".join(b"notes/number-%d.txt" % number for number in range(9)),
        "钥匙在蓝色的花盆\0下面，别忘了带走\n".encode("gb18030"),
        "你好，钥匙在\0花盆下面\n".encode(),
    ],
)
def test_text_with_stray_nuls_is_text_in_its_encoding(data: bytes) -> None:
    assert sniffed(data, "note.txt") == Sniffed("text/plain", "text")
    assert not decode(data).encoding.startswith(("utf-16", "utf-32"))


@pytest.mark.parametrize(
    "words",
    ["hello\n", "你好\n", "你好你好你\n", "今天天气很好，我们去公园。\n", "👨‍👩‍👧 a family\n"],
)
@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_mark_is_text(words: str, codec: str) -> None:
    assert sniffed(words.encode(codec), "note.txt") == Sniffed("text/plain", "text")
    assert decode(words.encode(codec)).text == words


@pytest.mark.parametrize(
    "data",
    [
        bytes(500),
        b"x" + bytes(500),
        b"".join(number.to_bytes(2, "little") for number in range(5, 900)),
        b"HDR1\0\0\0\x05name\0\0\0\0\x01value\0\0\0\x02\0\0\0",
    ],
)
def test_binary_data_with_some_letters_is_binary(data: bytes) -> None:
    assert sniffed(data, "note.txt").family == "binary"


def test_html_without_a_name_is_recognised() -> None:
    assert sniffed(b"<!DOCTYPE html><html><body>x</body></html>").media_type == "text/html"


def test_json_without_a_name_is_recognised() -> None:
    assert sniffed(b'{"a": 1,\n "b": [2]}').media_type == "application/json"
    assert sniffed(b'{"a": 1}\n{"a": 2}\n').media_type == "application/x-ndjson"


def test_a_hundred_thousand_opening_brackets_are_text() -> None:
    assert sniffed(b"[" * 100_000, "deep.json").family == "text"


def test_a_head_cut_inside_a_character_is_still_text() -> None:
    data = "汉字".encode() * 20_000
    assert sniff(data[: HEAD_BYTES - 1], b"", len(data), "a.txt").family == "text"


@pytest.mark.parametrize(
    ("text", "media_type"),
    [
        ("[8/15/23, 9:12:33 AM] Ann: hello\n[8/15/23, 9:13:00 AM] Bo: hi\n", "text/x-whatsapp"),
        ("2023-01-01 10:00 Ann: 你好\n2023-01-01 10:01 Bo: 你好呀\n", "text/x-chat-stamped"),
        ("女友 2023/09/16 2:51 PM\n冷\n\n我 2023/09/16 2:52 PM\n嗯\n", "text/x-chat-pasted"),
        ("Ann: hi\nBo: hello\nAnn: how are you?\nBo: fine\n", "text/x-chat-dialogue"),
        ('{"event_id": "1", "role": "user", "text": "hi"}\n', "application/x-events+ndjson"),
    ],
)
def test_chats_are_recognised_by_their_shape(text: str, media_type: str) -> None:
    assert sniffed(text.encode(), "a.txt") == Sniffed(media_type, "chat")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("2023-01-01 10:00:00 INFO: started\n2023-01-01 10:00:01 ERROR: failed\n", "app.txt"),
        ("2023-01-01 10:00 web: started\n2023-01-01 10:00 web: done\n", "app.log"),
        ("name: x\nversion: 1\nname: y\nversion: 2\n", "conf.yaml"),
        ("INFO: a\nERROR: b\nINFO: c\nERROR: d\n", "out.txt"),
        ("2023-01-01 09:00 Breakfast: eggs\n2023-01-02 10:00 Work: plan\n"
         "2023-01-03 11:00 Lunch: soup\n2023-01-04 12:00 Sport: run\n", "diary.txt"),
        ("Date: 3 May\nPlace: Rome\nNotes: sunny\n", "trip.txt"),
    ],
)  # fmt: skip
def test_logs_tables_and_diaries_are_no_chats(text: str, name: str) -> None:
    assert sniffed(text.encode(), name).family == "text"


OBVIOUS = {
    "audio/": {"audio", "binary", "empty"},
    "images/": {"image", "text"},
    "video/": {"video", "audio"},
    "docs/pdf-": {"pdf", "text"},
    "docs/ics": {"calendar"},
    "docs/vcf": {"contact"},
    "docs/eml": {"mail", "text"},
    "docs/mbox": {"mail"},
    "docs/msg": {"mail"},
    "docs/epub": {"epub", "text"},
    "docs/txt": {"text"},
    "docs/md": {"text"},
    "docs/csv": {"text"},
    "docs/html": {"text"},
    "docs/pptx": {"office.pptx", "text"},
    "docs/xlsx": {"office.xlsx", "text"},
    "chats/subtitles": {"subtitle"},
    "chats/whatsapp": {"chat", "text"},
    "hostile/image": {"image"},
    "hostile/json": {"text"},
    "hostile/text": {"text"},
    "hostile/sniff": {"binary", "text"},
    "hostile/video": {"video"},
}
TEXT_SUFFIXES = (".txt", ".md", ".json", ".xmp", ".csv", ".html", ".tsv", "notaZipFile.odt")


@pytest.mark.corpus
def test_every_file_of_the_corpus_gets_an_expected_family(corpus: Path) -> None:
    wrong = []
    for row in (corpus / "manifest.tsv").read_text("utf-8").splitlines()[1:]:
        path = corpus / row.split("\t")[0]
        expected = next((v for k, v in OBVIOUS.items() if row.startswith(k)), None)
        if expected is None or not path.is_file():
            continue
        data = path.read_bytes()
        family = sniffed(data, path.name).family
        is_text = path.name.endswith(TEXT_SUFFIXES)
        if family not in expected or (family == "text") > is_text:
            wrong.append((row.split("\t")[0], family))

    assert wrong == []
