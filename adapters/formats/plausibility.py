"""How likely bytes are text in a legacy encoding, by how common the decoded characters are.

A strict decoder is no judge: GB18030 accepts most byte strings, and short ones decode as Korean,
Big5 or Japanese alike. So each candidate is scored by the rows of its own code table that the
bytes fall in (the tables put everyday characters first) and by its most frequent characters.
"""

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

_SIMPLIFIED = frozenset(
    "的一是不了人我在有他这中大来上个国到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可"
    "她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同"
    "三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名"
    "定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内"
    "加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原"
    "车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战"
    "干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连"
    "谢早晚吗吧呢啊哈哪您喜欢星期周错班饭钱忙找带送完帮李刘陈杨黄赵吴徐孙胡朱候"
)
_TRADITIONAL = frozenset(
    "的一是不了人我在有他這中大來上個國到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可"
    "她裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同"
    "三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美點月明其種聲全工己話兒者向情部正名"
    "定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內"
    "加化由卻代軍產入先山五太水萬市眼體別處總才場師書比住員九笑性通目華報立馬命張活難神數件安表原"
    "車白應路期叫死常提感金何更反合放做係計或司利受光王果親界及今京務制解各任至清物臺象記邊共風戰"
    "謝早晚嗎吧呢啊哈哪您喜歡星週錯班飯錢忙找帶送完幫李劉陳楊黃趙吳徐孫胡朱候臺灣"
)
_HANGUL = frozenset(
    "이다는에을의가고하은지를한사로도기자리어나서대아시인일정만수것그해있들으과보장부게면요원전라스"
    "여주제성상동구조안공선습니까없우저무오당연신문경관세국학생말음오늘내좋녕감와않중할된년월때"
)

_EVERYDAY = _SIMPLIFIED | _TRADITIONAL | _HANGUL

_WESTERN_MARKS = frozenset("‘’“”–—…•€™\xa0")
# What a rare Han character's four GB18030 bytes look like in cp1252.
_FOUR_BYTE_HAN = re.compile(r"[‚•–—˜™š][0-9][^\x00-\x7f][0-9]")

_HAN = re.compile(r"[\u2e80-\u9fff\U00020000-\U0003ffff]")

Score: TypeAlias = Callable[[str], float]


def _rows(*spans: tuple[int, int, float]) -> tuple[float, ...]:
    """Spread (first, last, weight) over the 256 lead bytes of a double-byte table."""
    table = [0.0] * 256
    for first, last, weight in spans:
        table[first : last + 1] = [weight] * (last + 1 - first)
    return tuple(table)


class _Table(NamedTuple):
    """What a code table's rows are worth, and cells before its common part (by trail byte)."""

    codec: str
    rows: tuple[float, ...]
    common_trail: int = 0
    uncommon: float = 0.0

    def weight(self, character: str) -> float:
        """Weigh one character (0..1) by the row that it stands in."""
        raw = character.encode(self.codec, "ignore")
        if len(raw) != 2:  # noqa: PLR2004 (a double-byte table)
            return 0.8 if len(raw) > 2 and _HAN.match(character) else 0.0  # noqa: PLR2004
        return self.rows[raw[0]] if raw[1] >= self.common_trail else self.uncommon


_GB18030 = _Table(
    "gb18030",
    _rows((0xA1, 0xA3, 1.0), (0xA4, 0xA5, 0.3), (0xB0, 0xD7, 1.0), (0xD8, 0xF7, 0.6)),
    common_trail=0xA1,
    uncommon=0.15,
)
_BIG5 = _Table(
    "big5", _rows((0xA1, 0xA2, 1.0), (0xA3, 0xA3, 0.3), (0xA4, 0xC6, 1.0), (0xC7, 0xF9, 0.4))
)
_CP932 = _Table(
    "cp932", _rows((0x81, 0x83, 1.0), (0x88, 0x98, 1.0), (0x99, 0xEF, 0.5), (0xFA, 0xFC, 0.5))
)
_EUC_JP = _Table(
    "euc_jp", _rows((0xA1, 0xA1, 1.0), (0xA3, 0xA5, 1.0), (0xB0, 0xCF, 1.0), (0xD0, 0xF4, 0.4))
)
_CP949 = _Table(
    "cp949",
    _rows((0xA1, 0xA1, 0.6), (0xA3, 0xA3, 0.6), (0xB0, 0xC8, 1.0), (0xC9, 0xFD, 0.1)),
    common_trail=0xA1,
    uncommon=0.1,
)


def _common(table: _Table, wide: list[str]) -> float:
    return sum(map(table.weight, wide)) / len(wide)


def _by_frequency(table: _Table, frequent: frozenset[str]) -> Score:
    def score(text: str) -> float:
        wide = [c for c in text if c > "\x7f"]
        share = sum(c in frequent for c in wide) / len(wide)
        return _common(table, wide) * (0.6 + 0.4 * min(1.0, share / 0.25))

    return score


def _cp932(text: str) -> float:
    # Half-width katakana, worth nothing, is what the single bytes of other tables turn into.
    return 0.9 * _common(_CP932, [c for c in text if c > "\x7f"])


def _euc_jp(text: str) -> float:
    wide = [c for c in text if c > "\x7f"]
    kana = sum("\u3040" <= c <= "\u30ff" for c in wide) / len(wide)
    # Above 1: kana in EUC are everyday characters of Big5, but Big5 seldom decodes as EUC at all.
    return 1.05 * _common(_EUC_JP, wide) * min(1.0, kana / 0.15)


def _cp1252(text: str) -> float:
    """Score Western text: accented letters stand alone among plain ones."""
    wide = sum(c > "\x7f" for c in text)
    text = _FOUR_BYTE_HAN.sub("  ", text)
    triples = zip(" " + text, text, text[1:] + " ", strict=False)
    return sum(_cp1252_weight(*triple) for triple in triples) / wide


def _cp1252_weight(before: str, character: str, after: str) -> float:
    if character <= "\x7f":
        return 0.0
    if character in _WESTERN_MARKS:
        return 1.0
    if not character.isalpha() and before.isalpha() and after.isalpha():
        return 0.0
    neighbours = (before > "\x7f") + (after > "\x7f")
    if neighbours == 0:
        return 1.0
    return 0.7 if neighbours == 1 and character.islower() else 0.0


SCORES: dict[str, Score] = {
    "gb18030": _by_frequency(_GB18030, _SIMPLIFIED),
    "big5": _by_frequency(_BIG5, _TRADITIONAL),
    "cp932": _cp932,
    "euc_jp": _euc_jp,
    "cp949": _by_frequency(_CP949, _HANGUL),
    "cp1252": _cp1252,
}


def plausibility(text: str, encoding: str) -> float:
    """Return how much (0..1) decoded text looks like what people write in an encoding."""
    if text.isascii():
        return 1.0
    score = SCORES.get(encoding)
    controls = sum("\x80" <= c <= "\x9f" or c == "\ufffd" for c in text) / len(text)
    return max(0.0, (score(text) if score else 0.5) - controls)


def everyday_share(text: str) -> float:
    """Return which share (0..1) of the letters beyond ASCII are among the most frequent ones."""
    wide = [c for c in text if c > "\x7f"]
    common = sum(c in _EVERYDAY or "\u3040" <= c <= "\u30ff" for c in wide)
    return common / len(wide) if wide else 0.0
