"""Files that nobody here wrote: the known answer is recalled, and is in what is extracted."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from end_to_end.conftest import Ingested
from support.cli import Answer
from support.pictures import open_upright

from muniment.adapters.media.ffmpeg import probe, stream_pcm
from muniment.adapters.ports import Limits, Source
from muniment.adapters.tools import LocalTools
from muniment.store.ids import asset_id


class Known(NamedTuple):
    """A file, a question about it, and words that the evidence must hold."""

    file: str
    question: str
    words: str


KNOWN = (
    Known("audio/speech-en/jfk.flac", "ask what you can do for your country", "your country"),
    Known("audio/speech-en/librivox_sense_0880.wav", "an ill disposed young man", "young man"),
    Known("audio/speech-zh/asr_example.mp3", "达摩院推出的语音模型", "达摩院"),
    Known("video/speech/docling_10s.mp4", "Shakespeare on Scenery by Oscar Wilde", "Shakespeare"),
    Known("video/subs/webvtt.mkv", "boop", "boop"),
    Known("images/ocr-en/phototest.tif", "12 point text to test the ocr code", "12 point text"),
    Known("images/ocr-zh/short.png", "中国网络空间安全", "网络空间安全"),
    Known("images/ocr-zh/img_exif_orientation.jpg", "我是中国人", "中国人"),
    Known("docs/pdf-text/crazyones.pdf", "the crazy ones, the misfits", "crazy ones"),
    Known("docs/pdf-scan/ocr_test_rotated_90.pdf", "Docling bundles PDF document conversion",
          "Docling"),
    Known("docs/pdf-text/RECEIPT-2024-TXN-98765.pdf", "TXN-98765-2024", "TXN-98765-2024"),
    Known("chats/wechat/wememoir_sample_chat.txt", "明天晚上七点见", "明天晚上七点见"),
    Known("chats/whatsapp/chatpack_whatsapp_export.txt", "What did Alice write?", ""),
    Known("docs/txt/sample-chinese.txt", "", ""),
)  # fmt: skip
ASKED = [known for known in KNOWN if known.words]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Ingested:
    """Ingest the files once, with the real models."""
    folder = tmp_path_factory.mktemp("corpus")
    store = Ingested(folder / "root", folder / "cache", Answer(0, "", ""))
    files = [corpus / known.file for known in KNOWN]
    store.said = store.run("--json", "ingest", "--offline", "--no-embeddings", *files)
    return store


def squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def read_back(path: Path, media_type: str, tools: LocalTools, scratch: Path) -> str:
    """Read what was extracted with the models that read the whole."""
    if media_type == "text/plain":
        return path.read_text("utf-8")
    data = path.read_bytes()
    family = media_type.partition("/")[0]
    source = Source(asset_id(data), len(data), media_type, family, path.name, scratch, path=path)
    if family == "image":
        lines = tools.ocr().read(open_upright(source, Limits()).image)
        return " ".join(line.text for line in lines)
    windows = stream_pcm(source, probe(source, Limits()), Limits())
    heard = [tools.transcriber().transcribe(samples) for samples in windows]
    return " ".join(segment.text for one in heard for segment in one.segments)


@pytest.fixture(scope="module")
def tools() -> LocalTools:
    return LocalTools()


@pytest.mark.corpus
def test_every_file_is_read(kept: Ingested) -> None:
    assert kept.said.code == 0, kept.said.err
    assert kept.said.json["registered"] == len(KNOWN)
    assert kept.said.json["failed"] == []


@pytest.mark.corpus
@pytest.mark.parametrize("known", ASKED, ids=lambda known: known.file)
def test_the_known_answer_is_recalled_and_stands_in_what_is_extracted(
    kept: Ingested, tools: LocalTools, tmp_path: Path, known: Known
) -> None:
    pack = kept.run("recall", "--format", "json", known.question).json
    cited = [one for one in pack["citations"] if one["name"] == Path(known.file).name]
    holding = [one for one in cited if squeezed(known.words) in squeezed(one["quote"])]
    assert holding, (pack["coverage"], [one["name"] for one in pack["citations"]])

    found: list[Any] = []
    for one in holding[:3]:
        part = tmp_path / "part"
        done = kept.run("--json", "show", one["ref"], "--extract", part)
        assert done.code == 0, done.err
        media_type = done.json["extracted"]["media_type"]
        found.append(read_back(part, media_type, tools, tmp_path))
    if holding[0]["producer"] == "media_metadata":
        return  # a subtitle is text beside the picture; its clip need not be spoken
    assert any(squeezed(known.words) in squeezed(text) for text in found), found
