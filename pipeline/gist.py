"""A gist without a model: the first sentences that say something, in their own words."""

import re
from collections.abc import Iterable, Iterator

GIST_CHARACTERS = 300
SENTENCE_CHARACTERS = 180
LEAST_LATIN_WORDS = 3
LEAST_HAN_CHARACTERS = 5
ENOUGH_CHARACTERS = 200
SAMPLE_CHARACTERS = 8_000  # of one text; a gist is taken from its beginning
LONGEST_ABBREVIATION = len(" Prof.")

# a Latin full stop ends a sentence before space only, so that 3.5 and example.com stay whole
_ENDS = re.compile(r"[。！？!?…]+[”」』\"']?|(?<!\.)\.++(?=\s|$)|\n")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No)\.$")
_HAN = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LINK = re.compile(r"\b(?:https?://|www\.)\S+")
_WIDE_GAP = re.compile(r"([。！？…」』\u3400-\u9fff]) (?=[“「『\u3400-\u9fff])")
_SMALL_TALK = re.compile(
    r"^(?:(?:hi|hey|hello|good (?:morning|evening|afternoon|night)|thanks?|thank you|thx|ok(?:ay)?|"
    r"sure|yes|no|lol|haha+|bye|see you|how are you|what's up|dear|best regards|kind regards)\b|"
    r"你好|您好|大家好|早上好|早安|晚安|晚上好|谢谢|多谢|好的|好吧|嗯+|哦+|哈+|在吗|再见|拜拜|收到)",
    re.IGNORECASE,
)
_OMITTED = re.compile(
    r"^<?(?:media|image|video|audio|sticker|gif) omitted>?$|^<attached: .*>$|"
    r"^\[(?:图片|视频|语音|表情)\]$",
    re.IGNORECASE,
)


def gist(texts: Iterable[str], most: int = GIST_CHARACTERS) -> str:
    """Return the first informative sentences of the texts, in order, within ``most`` characters.

    When none says much, the first words found stand in; no text at all gives an empty gist.
    """
    picked: list[str] = []
    fallback = ""
    for sentence in (
        sentence for text in texts for sentence in sentences(text[:SAMPLE_CHARACTERS])
    ):
        fallback = fallback or sentence
        if not informative(sentence) or sentence in picked:
            continue
        shown = _cut(sentence, SENTENCE_CHARACTERS)
        if picked and len(_joined([*picked, shown])) > most:
            break
        picked.append(shown)
        if len(_joined(picked)) >= ENOUGH_CHARACTERS:
            break
    return _cut(_joined(picked) or fallback, most)


def sentences(text: str) -> Iterator[str]:
    """Cut a text at sentence ends of both scripts and at line ends, white space folded."""
    begun = 0
    for end in [*(match.end() for match in _ENDS.finditer(text)), len(text)]:
        if _ABBREVIATION.search(text, max(begun, end - LONGEST_ABBREVIATION), end):
            continue
        whole = " ".join(text[begun:end].split())
        begun = end
        if whole:
            yield whole


def informative(sentence: str) -> bool:
    """Tell whether a sentence says more than a greeting, a link or a place holder."""
    bare = _LINK.sub("", sentence).strip()
    if _OMITTED.match(bare):
        return False
    rest = _SMALL_TALK.sub("", bare)
    enough_han = len(_HAN.findall(rest)) >= LEAST_HAN_CHARACTERS
    return enough_han or len(_WORD.findall(rest)) >= LEAST_LATIN_WORDS


def _joined(sentences: list[str]) -> str:
    """Put sentences in a row; Chinese takes no space between them."""
    return _WIDE_GAP.sub(r"\1", " ".join(sentences))


def _cut(text: str, most: int) -> str:
    """Shorten to ``most`` characters, at a word's end where there is one near."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    at_word = kept.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > most // 2 else kept).rstrip() + "…"
