import json
import subprocess
import sys
from pathlib import Path

import pytest

from muniment.store.errors import DamageError
from muniment.store.text.fold import fold
from muniment.store.text.segment import (
    BulkCutter,
    CompiledDictionary,
    IndexCutter,
    compile_dictionary,
    open_dictionary,
)
from muniment.store.text.words import han_runs

SENTENCES = [
    "北京大学的学生在长江大桥怎么走",
    "研究生命的起源",
    "南京市长江大桥欢迎您",
    "我来到北京清华大学",
    "小明硕士毕业于中国科学院计算所后在日本京都大学深造",
    "他来到了网易杭研大厦",
    "结婚的和尚未结婚的",
    "龘靐齉齾爩",
    "的",
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    compile_dictionary(folder)
    return folder


@pytest.fixture(scope="module")
def runs(checkout: Path) -> list[str]:
    texts = list(SENTENCES)
    bench = checkout.parent / "shared" / "bench" / "cmrc2018-zh" / "cmrc2018_trial.json"
    if bench.is_file():
        articles = json.loads(bench.read_text("utf-8"))["data"]
        texts += [part["context"] for article in articles[:60] for part in article["paragraphs"]]
    return [run for text in texts for run in han_runs(fold(text))]


def test_both_cutters_agree(cache: Path, runs: list[str]) -> None:
    compiled, bulk = open_dictionary(cache), BulkCutter()
    assert compiled is not None
    assert [compiled.cut(run) for run in runs] == [bulk.cut(run) for run in runs]


def test_both_agree_with_jieba_itself(cache: Path, runs: list[str], tmp_path: Path) -> None:
    program = (
        "import json, logging, sys, tempfile, jieba\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "jieba.setLogLevel(logging.ERROR)\n"
        "json.dump([jieba.lcut_for_search(r, HMM=False) for r in json.load(sys.stdin)], sys.stdout)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)],
        input=json.dumps(runs),
        capture_output=True,
        text=True,
        check=True,
    )
    compiled = open_dictionary(cache)
    assert compiled is not None
    assert [compiled.cut(run) for run in runs] == json.loads(done.stdout)


def test_sub_words_come_before_the_word(cache: Path) -> None:
    compiled = open_dictionary(cache)
    assert compiled is not None
    assert compiled.cut("中华人民共和国") == [
        *["中华", "华人", "人民", "共和", "共和国", "中华人民共和国"]
    ]
    assert compiled.words("在北京大学") == ["在", "北京大学"]


def test_the_dictionary_is_compiled_once(cache: Path) -> None:
    path = compile_dictionary(cache)
    before = path.stat()
    assert compile_dictionary(cache).stat() == before
    assert [file.name for file in cache.iterdir()] == [path.name]


def test_a_torn_dictionary_is_not_used(cache: Path, tmp_path: Path) -> None:
    whole = compile_dictionary(cache).read_bytes()
    torn = tmp_path / "han-words-1-0.bin"
    for data in (b"", whole[:20], whole[:-1], b"x" + whole[1:]):
        torn.write_bytes(data)
        with pytest.raises(DamageError):
            CompiledDictionary(torn)
        assert open_dictionary(tmp_path) is None
    assert open_dictionary(tmp_path / "absent") is None


def test_little_is_cut_without_the_bulk_library_and_much_with_it(cache: Path) -> None:
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from muniment.store.text.segment import IndexCutter\n"
        "cutter = IndexCutter(Path(sys.argv[1]))\n"
        "first = cutter.cut('北京大学')\n"
        "assert 'rjieba' not in sys.modules and 'jieba' not in sys.modules\n"
        "for code in range(2_000): cutter.cut('北京大学' + chr(0x4E00 + code))\n"
        "assert cutter.cut('北京大学') == first\n"
        "assert 'rjieba' in sys.modules and 'jieba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(cache)], check=True)


def test_without_a_compiled_dictionary_the_bulk_library_cuts() -> None:
    assert IndexCutter(None).cut("北京大学") == ["北京", "大学", "北京大学"]
