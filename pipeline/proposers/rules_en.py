"""The explicit statements of English."""

import re
from collections.abc import Iterator

from muniment.pipeline import keys
from muniment.pipeline.proposers import forms, relatives_en
from muniment.pipeline.proposers import words_en as words
from muniment.pipeline.proposers.dates import birthday, find_date
from muniment.pipeline.proposers.forms import Clause, Language, Made, Rule
from muniment.pipeline.proposers.words_en import (
    AM,
    CONDITION,
    FROM_NOW,
    IMPERATIVE,
    MIDDLE,
    NAME,
    NO_PROMISE,
    NOT_A_NAME,
    OFTEN,
    POLITE,
    PROFESSION,
    PROPER_NAME,
    REQUEST,
    TAIL,
    VAGUE,
)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_DISLIKING = re.compile(r"n't|not|hate|dislike|detest|despise|stand|loathe")


def _polarity(verb: str) -> str:
    if verb == "prefer":
        return verb
    return "dislike" if _DISLIKING.search(verb) else "like"


def _birthday(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    day = birthday(clause.part(match, "value"))
    if day is not None:
        yield Made("semantic", "fact", keys.BIRTHDAY, day, salience=0.8)


def _address(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    value = clause.part(match, "value")
    yield Made("semantic", "fact", keys.FORM_OF_ADDRESS, value, salience=0.9, instructed=True)


def _home(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    since = find_date(clause.folded, None)  # "on Friday" is past here: whole dates only
    value = clause.part(match, "value")
    valid = since.moment if since is not None else None
    yield Made("semantic", "fact", keys.HOME, value, valid_at=valid, salience=0.7)


def _job(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    yield Made("semantic", "fact", keys.JOB, clause.part(match, "value"), salience=0.7)
    if match.groupdict().get("employer"):
        yield Made("semantic", "fact", keys.EMPLOYER, clause.part(match, "employer"), salience=0.7)


def _employer(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    yield Made("semantic", "fact", keys.EMPLOYER, clause.part(match, "value"), salience=0.7)
    if match["job"]:
        yield Made("semantic", "fact", keys.JOB, clause.part(match, "job"), salience=0.7)


_HYPOTHETICAL = frozenset({"hypothetical"})
_ASKED = frozenset({"question", "hypothetical"})
_ANY_TIME = frozenset({"hypothetical", "past"})

_RULES = (
    Rule(
        "en.form_of_address",
        _compiled(
            rf"{FROM_NOW}?{POLITE}(?:you (?:can|may|should|must)\s+)?{POLITE}"
            rf"(?:(?:call|address) me|refer to me as)\s+(?:as\s+)?{NOT_A_NAME}(?P<value>{NAME})"
            r"(?:,?\s+(?:please|instead|from now on|(?:not|instead of|rather than)\s.*))*$"
        ),
        _address,
        allows=_HYPOTHETICAL,
    ),
    Rule(
        "en.form_of_address",
        _compiled(
            r"I(?:'d| would)\s+(?:like|prefer|love)\s+(?:you to call me|to be called|to go by)\s+"
            rf"{NOT_A_NAME}(?P<value>{NAME})(?:,?\s+(?:please|instead|from now on))*$"
        ),
        _address,
        allows=_HYPOTHETICAL,
    ),
    Rule(
        "en.name",
        _compiled(rf"my (?:full |first |real )?name(?:'s| is)\s+{NOT_A_NAME}(?P<value>{NAME})$"),
        forms.one(keys.NAME, salience=0.9),
    ),
    Rule(
        "en.reminder",
        _compiled(
            rf"{REQUEST}{POLITE}(?:remind me|don't let me forget)\s+{MIDDLE}"
            r"(?:to|about|that)\s+(?P<value>.{2,200})$"
        ),
        forms.task,
        allows=_ASKED,
        whole=True,
    ),
    Rule(
        "en.reminder",
        _compiled(rf"{POLITE}(?:remember|don't forget|do not forget) to\s+(?P<value>.{{2,200}})$"),
        forms.task,
        whole=True,
    ),
    Rule(
        "en.lesson",
        _compiled(
            rf"{POLITE}(?:{FROM_NOW}|{CONDITION})*{POLITE}(?:you (?:should|must)\s+)?"
            r"(?P<value>(?:always|never|don't ever|do not ever)\s+(?!give up|be yourself|say never)"
            rf"{IMPERATIVE}\b.{{2,300}})$"
        ),
        forms.lesson,
        allows=_ANY_TIME,
        whole=True,
        to_assistant=True,
    ),
    Rule(
        "en.lesson",
        _compiled(
            rf"{POLITE}(?:{FROM_NOW}{CONDITION}?|(?:when(?:ever)?|every time|each time) you\b"
            rf"[^,\n]{{2,80}},\s*)(?:you (?:should|must)\s+)?{POLITE}"
            rf"(?P<value>(?!call me\b|remind me\b){IMPERATIVE}\b.{{2,300}})$"
        ),
        forms.lesson,
        allows=_ANY_TIME,
        whole=True,
        to_assistant=True,
    ),
    Rule(
        "en.allergy",
        _compiled(
            rf"{AM}(?:(?:severely|very|highly|also|deathly|mildly|really|quite|badly)\s+)*"
            rf"(?:allergic|intolerant) to\s+{VAGUE}(?P<value>[^.;!?\n]{{2,80}}?){TAIL}"
        ),
        forms.allergies,
        whole=True,
        about_self=True,
    ),
    Rule(
        "en.allergy",
        _compiled(
            r"I have (?:an? )?(?:(?:severe|mild|bad|serious|strong)\s+)?"
            r"(?:allerg(?:y|ies) to\s+(?P<value>[^.;!?\n]{2,80}))$"
        ),
        forms.allergies,
        whole=True,
        about_self=True,
    ),
    Rule(
        "en.allergy",
        _compiled(
            r"(?:I have an?\s+(?:(?:severe|mild|bad|serious|"
            r"strong)\s+)?(?P<value>(?!no\b)[\w -]{2,30}?)"
            r" allerg(?:y|ies))$"
        ),
        forms.allergies,
        about_self=True,
    ),
    Rule(
        "en.allergy",
        _compiled(rf"{AM}(?P<value>lactose|gluten|fructose|histamine)[ -]intolerant\b"),
        forms.allergies,
        about_self=True,
    ),
    Rule(
        "en.birthday",
        _compiled(r"(?:my birthday(?:'s| is)(?: on)?|I was born(?: on)?)\s+(?P<value>.{3,60})$"),
        _birthday,
        whole=True,
        about_self=True,
    ),
    Rule(
        "en.home",
        _compiled(
            rf"I(?:\s+{OFTEN}live|(?:'ve| have)?\s+(?:just |recently )?(?:moved|relocated)|"
            rf"(?:'m| am|'ve been| have been)\s+(?:now |currently )?(?:living|based))\s+"
            rf"(?:in|to)\s+{NOT_A_NAME}(?P<value>{PROPER_NAME}|[\u3400-\u9fff]{{2,12}})"
            r"(?:,?\s+(?:now|at the moment|these days|(?:since|in|last|this|with|near|"
            r"for|and|because)"
            r"\b.*)){0,2}$"
        ),
        _home,
        about_self=True,
    ),
    Rule(
        "en.address",
        _compiled(r"my (?:home |postal )?address is\s+(?P<value>(?=.*\d)[^\n]{5,120})$"),
        forms.one(keys.ADDRESS, sensitive=True),
        whole=True,
        about_self=True,
    ),
    Rule(
        "en.employer",
        _compiled(
            rf"I\s+{OFTEN}work (?:at|for)\s+(?:the )?{NOT_A_NAME}(?P<value>{PROPER_NAME})"
            r"(?:\s+as an?\s+(?P<job>[\w -]{3,50}?))?(?:\s+(?:now|as\b.*|in\b.*|since\b.*))?$"
        ),
        _employer,
        about_self=True,
    ),
    Rule(
        "en.job",
        _compiled(
            rf"(?:I\s+{OFTEN}work as|my (?:job|profession|occupation) is)\s+(?:being )?an?\s+"
            rf"(?P<value>[\w -]{{3,50}}?)(?:\s+(?:at|for)\s+(?P<employer>{PROPER_NAME}))?{TAIL}"
        ),
        _job,
        about_self=True,
    ),
    Rule(
        "en.job",
        _compiled(
            rf"{AM}(?:(?:now|currently|also)\s+)?(?:an?|the)\s+(?P<value>(?:[\w-]+\s+){{0,3}}?"
            rf"{PROFESSION})(?:\s+(?:at|for)\s+(?P<employer>{PROPER_NAME}))?"
            rf"(?:\s+in\s+(?:the\s+)?{PROPER_NAME})?$"
        ),
        _job,
        about_self=True,
    ),
    Rule(
        "en.favourite",
        _compiled(
            r"my (?:all[- ]time )?fav(?:ou?rite|e)?\s+(?P<what>[\w ]{2,30}?)\s+"
            rf"(?:is|are|has always been)\s+{VAGUE}(?P<value>[^,.;:!?()\n]{{2,60}}?){TAIL}"
        ),
        forms.favourite,
        about_self=True,
    ),
    Rule(
        "en.preference",
        _compiled(
            rf"I\s+{OFTEN}(?P<verb>prefer)\s+{VAGUE}(?P<value>[^,.;:!?()\n]{{2,60}}?)"
            r"(?:\s+(?:to|over|rather than|instead of|more than)\s+.*)?$"
        ),
        forms.liking(_polarity),
        about_self=True,
    ),
    Rule(
        "en.preference",
        _compiled(
            rf"I\s+{OFTEN}(?P<verb>like|love|enjoy|adore|hate|dislike|detest|despise|loathe|"
            r"can't stand|cannot stand|(?:don't|do not)\s+(?:really\s+|particularly\s+)?"
            rf"(?:like|enjoy|love|care for))\s+{VAGUE}(?P<value>[^,.;:!?()\n]{{2,60}}?){TAIL}"
        ),
        forms.liking(_polarity),
        about_self=True,
    ),
    Rule(
        "en.promise",
        _compiled(
            r"I (?:promise|swear)(?: you)?(?:,?\s+(?:that\s+)?I(?:'ll| will)|\s+to)\s+"
            r"(?P<value>.{2,200})$"
        ),
        forms.promise,
        whole=True,
        about_self=True,
    ),
    Rule(
        "en.promise",
        _compiled(
            rf"I(?:'ll| will|'m going to| am going to|'m gonna)\s+(?-i:(?=[a-z]))(?!{NO_PROMISE}\b)"
            r"(?P<value>.{3,200})$"
        ),
        forms.dated_promise,
        whole=True,
        about_self=True,
    ),
    Rule(
        "en.task",
        _compiled(
            r"I (?:need to|have to|must|'ve got to|gotta)\s+(?!say\b|admit\b)(?P<value>.{3,200})$"
        ),
        forms.dated_task,
        whole=True,
    ),
)

ENGLISH = Language(
    name="en",
    speaks=words.SPEAKS,
    rules=(*_RULES, *relatives_en.RULES),
    vetoes=words.VETOES,
    reported=words.REPORTED,
    breaks=words.BREAKS,
    lead=words.LEAD,
    remember=words.REMEMBER,
)
