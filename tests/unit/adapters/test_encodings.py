from io import BytesIO
from pathlib import Path

import pytest

from muniment.adapters.formats.encodings import BLOCK_BYTES, blocks, decode, detect, text_codec

LIMIT = 1 << 40


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("你好", "gb18030"),
        ("王小明", "gb18030"),
        ("今天天气不错", "gb18030"),
        ("a我b", "gb18030"),
        ("𠮷", "gb18030"),
        ("㐀字", "gb18030"),
        ("请记住我的生日是三月五号", "gb18030"),
        ("你好", "big5"),
        ("謝謝您", "big5"),
        ("今天天氣不錯，我們去公園吧", "big5"),
        ("東京", "cp932"),
        ("今日は天気がいいです", "cp932"),
        ("今日は天気がいいですね", "euc_jp"),
        ("안녕하세요", "cp949"),
        ("오늘 날씨가 좋습니다. 내일 만나요", "cp949"),
        ("Café déjà vu", "cp1252"),
        ("naïve", "cp1252"),
        ("déjà", "cp1252"),
        ("créée", "cp1252"),
        ("Zürich Straße, “quotes” — £5", "cp1252"),
        ("Señor, ¿cómo está usted? Mañana", "cp1252"),
        ("Привет, как дела? Сегодня хорошая погода, пойдём гулять в парк.", "cp1251"),
        ("日本語テキスト", "iso2022_jp"),
        ("你好 there\n", "utf-16-be"),
        ("plain", "utf-16-le"),
        ("x", "utf-32-le"),
    ],
)
def test_short_texts_of_known_encodings_come_out_right(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))

    assert decoded.text == text
    assert not decoded.had_errors


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_the_byte_order_mark_is_no_part_of_the_text(encoding: str) -> None:
    assert decode("héllo\r\n你好".encode(encoding)).text == "héllo\r\n你好"


def test_newlines_are_left_as_they_are() -> None:
    assert decode(b"a\r\nb\rc\n").text == "a\r\nb\rc\n"


def test_a_few_broken_bytes_leave_utf8_what_it_is() -> None:
    decoded = decode("这是一段足够长的文字，用来说明问题".encode() + b"\xff\n")

    assert (decoded.encoding, decoded.had_errors) == ("utf-8", True)
    assert decoded.text.endswith("问题\ufffd\n")


def test_a_declared_encoding_is_believed_when_it_decodes() -> None:
    page = '<meta charset="iso-8859-2">Zażółć'.encode("iso-8859-2")

    assert decode(page).text.endswith("Zażółć")


def test_nothing_plausible_is_latin_1_with_no_confidence() -> None:
    decoded = decode(b"\x81\x8d\x8f \xff\xfe\xfd\xfc")

    assert (decoded.encoding, decoded.confidence) == ("latin-1", 0.0)


def test_the_configured_list_decides_between_equals() -> None:
    data = "髙橋".encode("cp932")

    assert decode(data, preferred=("cp932", "gb18030")).encoding == "cp932"


def in_blocks(data: bytes) -> str:
    encoding = detect(BytesIO(data), LIMIT)
    return "".join(blocks(BytesIO(data), encoding, LIMIT))


def test_a_large_file_is_decoded_across_its_blocks() -> None:
    text = "汉字 and words\n" * (BLOCK_BYTES // 8)

    assert in_blocks(text.encode()) == text


def test_a_large_file_that_turns_legacy_late_is_decoded_by_what_comes_late() -> None:
    text = "plain ascii\n" * (BLOCK_BYTES // 8) + "你好，世界，我们在这里\n"

    assert in_blocks(text.encode("gb18030")) == text


def test_broken_bytes_late_in_a_large_marked_file_are_noted() -> None:
    data = b"\xef\xbb\xbf" + b"plain ascii\n" * (BLOCK_BYTES // 8) + b"\xff\n"
    encoding = detect(BytesIO(data), LIMIT)

    assert (encoding.name, encoding.bom_bytes, encoding.had_errors) == ("utf-8", 3, True)


def test_a_limit_inside_a_character_drops_that_character() -> None:
    data = "汉字".encode()
    encoding = detect(BytesIO(data), 4)

    assert "".join(blocks(BytesIO(data), encoding, 4)) == "汉"


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "encoding", "words"),
    [
        ("docs/csv/test_mskanji.csv", "cp932", "髙橋淳,35,名古屋"),
        ("docs/txt/sample-chinese.txt", "big5", "收各方語"),
        ("docs/html/fake-html-cp1252.html", "cp1252", "Die schöne Frau"),
        ("docs/txt/utf-16.txt", "utf-16-le", "This is a test document"),
        ("docs/txt/chatchat_test.txt", "utf-8", "。"),
    ],
)
def test_files_of_the_corpus_come_out_right(
    corpus: Path, name: str, encoding: str, words: str
) -> None:
    decoded = decode((corpus / name).read_bytes())

    assert decoded.encoding == encoding
    assert words in decoded.text


@pytest.mark.parametrize("name", ["base64", "zlib", "hex", "punycode", "idna", "rot13", "none"])
def test_what_is_no_encoding_of_text_is_not_used_though_it_is_declared(name: str) -> None:
    assert text_codec(name) is None
    assert decode(f"encoding: {name}\ncaf".encode() + b"\xe9 au lait").text.endswith("é au lait")
