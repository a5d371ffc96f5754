"""The keys of claims: which hold one value at a time, which several, which are reserved."""

import re
import unicodedata
from collections.abc import Mapping

USER = "user"  # the subject of what the owner of the scope says of themselves

NAME = "name"
FORM_OF_ADDRESS = "form_of_address"
HOME = "home"
ADDRESS = "address"
JOB = "job"
EMPLOYER = "employer"
WORKPLACE = "workplace"
BIRTHDAY = "birthday"
ALLERGY = "allergy"
PREFERENCE = "preference"  # preference:<topic>, valued ``like``, ``dislike`` or ``prefer``
FAVOURITE = "favourite"  # favourite:<what>
ALIAS = "also_called"  # another name of somebody: no statement of how to address them

SINGLE_VALUED = frozenset(
    {NAME, FORM_OF_ADDRESS, HOME, ADDRESS, JOB, EMPLOYER, WORKPLACE, BIRTHDAY}
)
SINGLE_VALUED_FAMILIES = frozenset({FAVOURITE})
NAMING = frozenset({NAME, FORM_OF_ADDRESS})

# What else a key is asked for by: a claim ("I moved to Rome") rarely has the words of the question.
ASKED_BY: Mapping[str, str] = {
    NAME: "called 名字 叫",
    FORM_OF_ADDRESS: "call called 称呼 叫",
    HOME: "live city 家 住",
    ADDRESS: "live 地址 住址 住",
    JOB: "work profession occupation 工作 职业",
    EMPLOYER: "work job company 公司 上班 工作 单位",
    WORKPLACE: "work office 上班 工作",
    BIRTHDAY: "born birth 生日 出生",
    ALLERGY: "allergic 过敏",
}

# keys of how the system itself works: no claim may take them
RESERVED = frozenset(
    {"system", "policy", "permission", "permissions", "role", "tool", "tools", "scope", "persona"}
)
TOPIC_CHARACTERS = 60
_OPPOSITE = frozenset({frozenset({"like", "dislike"}), frozenset({"prefer", "dislike"})})
_ARTICLE = re.compile(r"^(?:the|a|an|to|my|some)\s+", re.IGNORECASE)


def is_single_valued(key: str | None) -> bool:
    """Tell whether a subject has one value of a key at a time; other keys keep several."""
    return key is not None and (key in SINGLE_VALUED or family(key) in SINGLE_VALUED_FAMILIES)


def asked_by(key: str | None) -> str:
    """Return the words that a claim of a key is asked for by, its own name the first."""
    return "" if key is None else " ".join([key, ASKED_BY.get(key, "")]).strip()


def is_reserved(key: str | None) -> bool:
    """Tell whether a key belongs to the system: by its first word, or a leading underscore."""
    if not key:
        return False
    return key.startswith("_") or re.split(r"[:./_-]", key.casefold())[0] in RESERVED


def family(key: str) -> str:
    """Return the part of a key before its topic."""
    return key.partition(":")[0]


def contradict(key: str | None, one: str | None, other: str | None) -> bool:
    """Tell whether two values of a multi-valued key can't both hold (likes and hates)."""
    if key is None or family(key) != PREFERENCE or one is None or other is None:
        return False
    return frozenset({one, other}) in _OPPOSITE


def topical(family: str, topic: str) -> str:
    """Return ``family:topic``, the topic folded so that spellings of one thing meet."""
    folded = " ".join(unicodedata.normalize("NFKC", topic).casefold().split())
    return f"{family}:{_ARTICLE.sub('', folded)[:TOPIC_CHARACTERS]}"
