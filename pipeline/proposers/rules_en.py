"""The explicit statements of English."""

import re
from collections.abc import Iterator

from muniment.pipeline import keys
from muniment.pipeline.proposers import forms
from muniment.pipeline.proposers.dates import birthday, find_date
from muniment.pipeline.proposers.forms import Clause, Language, Made, Rule


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_OFTEN = (
    r"(?:(?:really|absolutely|also|just|still|actually|always|now|currently|do|truly|definitely|"
    r"particularly|especially|generally|usually|quite|both)\s+)*"
)
_AM = r"I(?:'m| am)\s+"
_PROPER = r"(?-i:[A-Z][\w'.&-]*)"
_PROPER_NAME = rf"(?:{_PROPER}(?:(?:,?\s+|-)(?:{_PROPER}|of|de|la|le|the|am|upon|and(?=\s+[A-Z])))*)"
_NAME = rf"(?:[\"“'](?=\w)[^\"”'\n]{{1,40}}[\"”']|{_PROPER}(?:\s+{_PROPER}){{0,3}}|[\u3400-\u9fff]{{1,6}})"
_NOT_A_NAME = (
    r"(?!(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|asap|later|back|today|tomorrow|tonight|anytime|"
    r"now|maybe|crazy|when|if|at|on|after|before|the|a|an|I)\b)"
)
_VAGUE = (
    r"(?!(?:it|that|this|these|those|you|him|her|hers|them|us|me|how|when|what|where|why|who|your|"
    r"his|their|our|my|its|to (?:think|say|believe|know)|the (?:way|idea|fact|look|sound)|being|"
    r"myself|everything|anything|nothing|something|one|some|any|such|not)\b)"
)
_TAIL = (
    r"(?:\s+(?:very much|a lot|so much|too|as well|now|these days|the most|most|best|at all|"
    r"(?:because|since|but|although|though|when|while|for now|so that|after all)\b.*))?$"
)
_PROFESSION = (
    r"(?:engineer|developer|programmer|teacher|professor|lecturer|doctor|physician|surgeon|nurse|"
    r"dentist|lawyer|attorney|designer|architect|accountant|student|manager|scientist|researcher|"
    r"writer|journalist|editor|chef|cook|artist|musician|photographer|pharmacist|electrician|"
    r"plumber|carpenter|farmer|pilot|driver|translator|consultant|analyst|librarian|therapist|"
    r"psychologist|veterinarian|paramedic|firefighter|police officer|barista|waiter|waitress|"
    r"mechanic|economist|biologist|chemist|physicist|mathematician|salesperson|technician|"
    r"product owner|civil servant|social worker)"
)
_IMPERATIVE = (
    r"(?:add|answer|ask|assume|avoid|be|call|check|cite|commit|confirm|convert|delete|double-check|"
    r"end|explain|follow|format|give|ignore|include|keep|leave|limit|list|make|mention|open|prefer|"
    r"provide|push|put|quote|reply|respond|round|run|send|share|show|sign|speak|spell|start|"
    r"summari[sz]e|talk|tell|test|translate|try|use|verify|wait|write|do|don't|do not|never|always|"
    r"stop|stick|remind|remember)"
)
_POLITE = r"(?:please\s+|just\s+|kindly\s+)*"
_FROM_NOW = r"(?:(?:from now on|in (?:the )?future|going forward|in general|as a rule),?\s+)"
_CONDITION = (
    r"(?:(?:when(?:ever)?|if|before|after|every time|each time|for)\b[^,\n]{2,120},\s*(?:then\s+)?)"
)
_REQUEST = r"(?:(?:can|could|would|will) you\s+(?:please\s+)?)?"
_MIDDLE = (
    r"(?:(?:tomorrow|tonight|today|on|at|by|in|next|this|every|later|again|before|after)\b"
    r"[^,\n]{0,40}?\s)?"
)

_DISLIKING = re.compile(r"n't|not|hate|dislike|detest|despise|stand|never|loathe")


def _polarity(verb: str) -> str:
    if "prefer" in verb:
        return "prefer"
    bears = "mind" in verb or "hate" in verb and _negated(verb)
    return "dislike" if _DISLIKING.search(verb) and not bears else "like"


def _negated(verb: str) -> bool:
    return "n't" in verb or "not " in verb


def _birthday(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    day = birthday(clause.part(match, "value"))
    if day is not None:
        yield Made("semantic", "fact", keys.BIRTHDAY, day, salience=0.8)


def _address(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    value = clause.part(match, "value")
    yield Made("semantic", "fact", keys.FORM_OF_ADDRESS, value, salience=0.9, instructed=True)


def _home(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    since = find_date(clause.folded, clause.said)
    value = clause.part(match, "value")
    valid = since.moment if since is not None else None
    yield Made("semantic", "fact", keys.HOME, value, valid_at=valid, salience=0.7)


def _job(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    yield Made("semantic", "fact", keys.JOB, clause.part(match, "value"), salience=0.7)
    if match.groupdict().get("employer"):
        yield Made("semantic", "fact", keys.EMPLOYER, clause.part(match, "employer"), salience=0.7)


_HYPOTHETICAL = frozenset({"hypothetical"})
_ASKED = frozenset({"question", "hypothetical"})
_ANY_TIME = frozenset({"hypothetical", "past"})

_RULES = (
    Rule(
        "en.form_of_address",
        _compiled(
            rf"{_FROM_NOW}?{_POLITE}(?:you (?:can|may|should|must)\s+)?{_POLITE}"
            rf"(?:(?:call|address) me|refer to me as)\s+(?:as\s+)?{_NOT_A_NAME}(?P<value>{_NAME})"
            r"(?:,?\s+(?:please|instead|from now on))*$"
        ),
        _address,
        allows=_HYPOTHETICAL,
    ),
    Rule(
        "en.form_of_address",
        _compiled(
            r"I(?:'d| would)\s+(?:like|prefer|love)\s+(?:you to call me|to be called|to go by)\s+"
            rf"{_NOT_A_NAME}(?P<value>{_NAME})(?:,?\s+(?:please|instead|from now on))*$"
        ),
        _address,
        allows=_HYPOTHETICAL,
    ),
    Rule(
        "en.name",
        _compiled(rf"my (?:full |first |real )?name(?:'s| is)\s+{_NOT_A_NAME}(?P<value>{_NAME})$"),
        forms.one(keys.NAME, salience=0.9),
    ),
    Rule(
        "en.reminder",
        _compiled(
            rf"{_REQUEST}{_POLITE}(?:remind me|don't let me forget)\s+{_MIDDLE}"
            r"(?:to|about|that)\s+(?P<value>.{2,200})$"
        ),
        forms.task,
        allows=_ASKED,
        whole=True,
    ),
    Rule(
        "en.reminder",
        _compiled(rf"{_POLITE}(?:remember|don't forget|do not forget) to\s+(?P<value>.{{2,200}})$"),
        forms.task,
        whole=True,
    ),
    Rule(
        "en.lesson",
        _compiled(
            rf"{_POLITE}(?:{_FROM_NOW}|{_CONDITION})*{_POLITE}(?:you (?:should|must)\s+)?"
            r"(?P<value>(?:always|never|don't ever|do not ever)\s+(?!remember that|mind\b|say never)"
            rf"{_IMPERATIVE}\b.{{2,300}})$"
        ),
        forms.lesson,
        allows=_ANY_TIME,
        whole=True,
        to_assistant=True,
    ),
    Rule(
        "en.lesson",
        _compiled(
            rf"{_POLITE}(?:{_FROM_NOW}{_CONDITION}?|(?:when(?:ever)?|every time|each time) you\b"
            rf"[^,\n]{{2,80}},\s*)(?:you (?:should|must)\s+)?{_POLITE}"
            rf"(?P<value>(?!call me\b|remind me\b){_IMPERATIVE}\b.{{2,300}})$"
        ),
        forms.lesson,
        allows=_ANY_TIME,
        whole=True,
        to_assistant=True,
    ),
    Rule(
        "en.allergy",
        _compiled(
            rf"{_AM}(?:(?:severely|very|highly|also|deathly|mildly|really|quite|badly)\s+)*"
            rf"(?:allergic|intolerant) to\s+{_VAGUE}(?P<value>[^.;!?\n]{{2,80}}?){_TAIL}"
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
            r"(?:I have an?\s+(?:(?:severe|mild|bad|serious|strong)\s+)?(?P<value>(?!no\b)[\w -]{2,30}?)"
            r" allerg(?:y|ies))$"
        ),
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
            rf"I(?:\s+{_OFTEN}live|(?:'ve| have)?\s+(?:just |recently )?(?:moved|relocated)|"
            rf"(?:'m| am)\s+(?:now |currently )?(?:living|based))\s+(?:in|to)\s+{_NOT_A_NAME}"
            rf"(?P<value>{_PROPER_NAME}|[\u3400-\u9fff]{{2,12}})"
            r"(?:,?\s+(?:now|at the moment|these days|(?:since|in|last|this|with|near|for|and|because)"
            r"\b.*))?$"
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
            rf"I\s+{_OFTEN}work (?:at|for)\s+(?:the )?{_NOT_A_NAME}(?P<value>{_PROPER_NAME})"
            r"(?:\s+(?:now|as\b.*|in\b.*|since\b.*))?$"
        ),
        forms.one(keys.EMPLOYER),
        about_self=True,
    ),
    Rule(
        "en.job",
        _compiled(
            rf"(?:I\s+{_OFTEN}work as|my (?:job|profession|occupation) is)\s+(?:being )?an?\s+"
            rf"(?P<value>[\w -]{{3,50}}?)(?:\s+(?:at|for)\s+(?P<employer>{_PROPER_NAME}))?{_TAIL}"
        ),
        _job,
        about_self=True,
    ),
    Rule(
        "en.job",
        _compiled(
            rf"{_AM}(?:(?:now|currently|also)\s+)?(?:an?|the)\s+(?P<value>(?:[\w-]+\s+){{0,3}}?"
            rf"{_PROFESSION})(?:\s+(?:at|for|in)\s+(?P<employer>{_PROPER_NAME}))?$"
        ),
        _job,
        about_self=True,
    ),
    Rule(
        "en.favourite",
        _compiled(
            r"my (?:all[- ]time )?fav(?:ou?rite|e)?\s+(?P<what>[\w ]{2,30}?)\s+"
            rf"(?:is|are|has always been)\s+{_VAGUE}(?P<value>[^,.;:!?()\n]{{2,60}}?){_TAIL}"
        ),
        forms.favourite,
        about_self=True,
    ),
    Rule(
        "en.preference",
        _compiled(
            rf"I\s+{_OFTEN}(?P<verb>prefer)\s+{_VAGUE}(?P<value>[^,.;:!?()\n]{{2,60}}?)"
            r"(?:\s+(?:to|over|rather than|instead of|more than)\s+.*)?$"
        ),
        forms.liking(_polarity),
        about_self=True,
    ),
    Rule(
        "en.preference",
        _compiled(
            rf"I\s+{_OFTEN}(?P<verb>like|love|enjoy|adore|hate|dislike|detest|despise|loathe|"
            r"can't stand|cannot stand|(?:don't|do not)\s+(?:really\s+|particularly\s+)?"
            rf"(?:like|enjoy|love|care for))\s+{_VAGUE}(?P<value>[^,.;:!?()\n]{{2,60}}?){_TAIL}"
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
            r"I(?:'ll| will|'m going to| am going to|'m gonna)\s+(?!be\b|not\b|never\b|probably\b|see\b)"
            r"(?P<value>.{3,200})$"
        ),
        forms.dated_promise,
        whole=True,
        about_self=True,
    ),
    Rule(
        "en.task",
        _compiled(r"I (?:need to|have to|must|'ve got to|gotta)\s+(?!say\b|admit\b)(?P<value>.{3,200})$"),
        forms.dated_task,
        whole=True,
    ),
)

_START = r"(?:I|I'm|I've|I'll|I'd|my|please|call me|remind me|remember|always|never|don't)\b"

ENGLISH = Language(
    name="en",
    speaks=re.compile(r"[A-Za-z]{2}"),
    rules=_RULES,
    vetoes={
        "question": re.compile(
            r"\?|？|(?i:^\s*(?:(?:do|does|did|is|are|was|were|can|could|would|will|should|have|has|am)"
            r"\s+(?:I|you|he|she|we|they|it|my|your|the|this|that|there)\b|(?:what|who|where|why|which)\b))"
        ),
        "hypothetical": re.compile(
            r"(?i:\b(?:if|unless|should|would|could|might|maybe|perhaps|suppos(?:e|ing)|imagine|pretend|"
            r"hypothetically|wish|let's say|assum(?:e|ing)|for example|for instance|e\.g\.|whether|"
            r"as if|probably|in my (?:novel|story|dream)|my character|role-?play|lyrics)\b|"
            r"\bI'd\b)|\bmay\b"
        ),
        "past": re.compile(
            r"\b(?:used to|no longer|any ?more|back then|back when|when I was|as a (?:child|kid)|"
            r"years ago)\b",
            re.IGNORECASE,
        ),
    },
    reported=re.compile(
        r"(?<!\bI )\b(?:said|says|told|tells|asked|asks|thinks?|thought|claims?|claimed|wrote|writes|"
        r"heard|reads?|sings?|quote|according to)\b",
        re.IGNORECASE,
    ),
    breaks=re.compile(
        rf"(?:[,;:]|\s[-–—]+)\s*(?:and\s+|but\s+|so\s+|also\s+)?(?={_START})|"
        rf"\s(?:and|but|so|because)\s+(?={_START})",
        re.IGNORECASE,
    ),
    lead=re.compile(
        r"\s*(?:[-*•–—]+\s+|\d+[.)]\s+)?(?:(?:hi|hey|hello|dear \w+|by the way|btw|fyi|also|and|but|so|"
        r"well|yes|yeah|yep|no|ok(?:ay)?|oh|actually|honestly|personally|sure|thanks|great|note|p\.?s\.?|"
        r"just so you know|for the record|to be honest|as I said|as you know|(?:hey|hi) \w+(?=[,!]))"
        r"(?:[,!:.]+\s*|\s+(?=\S)))*",
        re.IGNORECASE,
    ),
    remember=re.compile(
        r"(?:please\s+|always\s+|and\s+)*(?:(?:remember|keep in mind|bear in mind|don't forget|"
        r"do not forget|make a note|note)(?:\s*[,:]\s*|\s+that\s+)|remember\s+(?=(?:I|I'm|my|we|our)\b))"
        r"(?!to\b|when\b|(?:that\s+)?(?:time|day|night|summer|guy|one)\b|how\b|the time\b)"
        r"(?P<rest>\S.{2,1000})",
        re.IGNORECASE | re.DOTALL,
    ),
)
