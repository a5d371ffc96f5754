"""The relatives and other names of people, in English."""

import re

from muniment.pipeline.proposers.forms import Rule
from muniment.pipeline.proposers.relatives import alias, by_word, kin
from muniment.pipeline.proposers.words_en import NAME, NOT_A_NAME, REPORTED

_KIN = by_word(
    {
        "mother": "mother mom mum mommy mummy",
        "father": "father dad daddy",
        "sister": "sister",
        "brother": "brother",
        "daughter": "daughter",
        "son": "son",
        "wife": "wife",
        "husband": "husband",
        "partner": "partner fiancé fiancée fiance fiancee girlfriend boyfriend",
        "grandmother": "grandmother grandma granny",
        "grandfather": "grandfather grandpa",
        "aunt": "aunt auntie",
        "uncle": "uncle",
        "cousin": "cousin",
        "niece": "niece",
        "nephew": "nephew",
    }
)
_WHICH = r"(?:(?:older|elder|eldest|younger|youngest|big|little|twin|late|only|dear)\s+)?"
_CALLED = r"(?:,?\s+|'s name is\s+|\s+is\s+(?:called |named )?|\s+(?:called|named)\s+)"
_PERSON = r"(?-i:[A-Z][\w-]+(?:\s(?!(?:I|The|And|But)\b)[A-Z][\w-]+)?)"
_NOBODY = r"(?!(?:I|He|She|It|We|They|You|This|That|There|The|An?|And|But|My|Our|Who|What)\b)"
_TOLD = re.compile(rf"\b(?:no|not|never|nobody)\b|n't\b|[\"“”‘]|{REPORTED.pattern}", re.IGNORECASE)

RULES = (
    Rule(
        "en.kin",
        re.compile(
            rf".{{0,80}}?\bmy\s+{_WHICH}(?P<kin>{'|'.join(_KIN)}){_CALLED}"
            rf"{NOT_A_NAME}(?P<value>{_PERSON})(?!\w)",
            re.IGNORECASE,
        ),
        kin(_KIN, _TOLD),
        about_self=True,
    ),
    Rule(
        "en.alias",
        re.compile(
            rf"{_NOBODY}(?P<who>{_PERSON})(?:\s+is|,?)\s+also\s+(?:called|known as)\s+"
            rf"{NOT_A_NAME}(?P<value>{NAME})(?!\w)",
            re.IGNORECASE,
        ),
        alias,
    ),
)
