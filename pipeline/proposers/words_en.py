"""The words that the English rules are made of, and how English sentences are read."""

import re

OFTEN = (
    r"(?:(?:really|absolutely|also|just|still|actually|always|now|currently|do|truly|definitely|"
    r"particularly|especially|generally|usually|quite|both)\s+)*"
)
AM = r"I(?:'m| am)\s+"
PROPER = r"(?-i:[A-Z][\w'.&-]*)"
PROPER_NAME = rf"(?:{PROPER}(?:,?\s+(?:{PROPER}|of|de|la|le|the|am|upon|and(?=\s+[A-Z])))*)"
NAME = (
    rf"(?:[\"“'](?=\w)[^\"”'\n]{{1,40}}[\"”']|{PROPER}(?:\s+{PROPER}){{0,3}}|"
    rf"[\u3400-\u9fff]{{1,6}})"
)
NOT_A_NAME = (
    r"(?!(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|"
    r"august|september|october|november|december|asap|later|back|today|tomorrow|tonight|anytime|"
    r"now|maybe|crazy|when|if|at|on|after|before|the|a|an|I)\b)"
)
VAGUE = (
    r"(?!(?:it|that|this|these|those|you|him|her|hers|them|us|me|how|when|what|where|why|who|your|"
    r"his|their|our|my|its|to (?:think|say|believe|know)|the (?:way|idea|fact|look|sound)|being|"
    r"myself|everything|anything|nothing|something|one|some|any|such|not)\b)"
)
TAIL = (
    r"(?:\s+(?:(?:more|better) than .*|very much|a lot|so much|too|as well|now|"
    r"these days|the most|most|best|at all|"
    r"(?:because|since|but|although|though|when|while|for now|so that|after all)\b.*))?$"
)
PROFESSION = (
    r"(?:engineer|developer|programmer|teacher|professor|lecturer|doctor|physician|surgeon|nurse|"
    r"dentist|lawyer|attorney|designer|architect|accountant|student|manager|scientist|researcher|"
    r"writer|journalist|editor|chef|cook|artist|musician|photographer|pharmacist|electrician|"
    r"plumber|carpenter|farmer|pilot|driver|translator|consultant|analyst|librarian|therapist|"
    r"psychologist|veterinarian|paramedic|firefighter|police officer|barista|waiter|waitress|"
    r"mechanic|economist|biologist|chemist|physicist|mathematician|salesperson|technician|"
    r"product owner|civil servant|social worker)"
)
IMPERATIVE = (
    r"(?:add|answer|ask|assume|avoid|be|call|check|cite|commit|confirm|convert|delete|double-check|"
    r"end|explain|follow|format|give|ignore|include|keep|leave|limit|list|make|mention|open|prefer|"
    r"provide|push|put|quote|reply|respond|round|run|send|share|show|sign|speak|spell|start|"
    r"summari[sz]e|talk|tell|test|translate|try|use|verify|wait|write|do|don't|do not|never|always|"
    r"stop|stick)"
)
NO_PROMISE = r"(?:be|not|never|probably|see|die|the|a|an|my|our|your|bed|school|work|sleep)"
POLITE = r"(?:please\s+|just\s+|kindly\s+)*"
FROM_NOW = r"(?:(?:from now on|in (?:the )?future|going forward|in general|as a rule),?\s+)"
CONDITION = (
    r"(?:(?:when(?:ever)?|if|before|after|every time|each time|for)\b[^,\n]{2,120},\s*(?:then\s+)?)"
)
REQUEST = r"(?:(?:can|could|would|will) you\s+(?:please\s+)?)?"
MIDDLE = (
    r"(?:(?:tomorrow|tonight|today|on|at|by|in|next|this|every|later|again|before|after)\b"
    r"[^,\n]{0,40}?\s)?"
)
_START = r"(?:I|I'm|I've|I'll|I'd|my|please|call me|remind me|remember|always|never|don't)\b"

SPEAKS = re.compile(
    r"\b(?:I|my|me|remember|always|never|don't|do not|keep in mind|bear in mind|"
    r"make a note|when(?:ever)?|also (?:called|known)|"
    r"from now on|in (?:the )?future|going forward|in general|as a rule|every time|each time)\b",
    re.IGNORECASE,
)
VETOES = {
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
    "sarcasm": re.compile(
        r"^\W*(?:oh,? (?:sure|great|yes|wonderful|joy)|yeah,? (?:right|sure)|wow|great|"
        r"how (?:lovely|wonderful))\b[,!. ]+(?:I|my)\b.*\b(?:love|like|enjoy|adore|favou?rite)\b|"
        r"\bsaid (?:nobody|no ?one)\b|,\s*not[.!]*$|\bas one does\b|\bjust what I needed\b",
        re.IGNORECASE,
    ),
    "past": re.compile(
        r"\b(?:used to|no longer|any ?more|back then|back when|when I was|as a (?:child|kid)|"
        r"years ago)\b",
        re.IGNORECASE,
    ),
}
REPORTED = re.compile(
    r"(?<!\bI )\b(?:said|says|told|tells|asked|asks|thinks?|thought|claims?|claimed|wrote|writes|"
    r"heard|reads?|sings?|quote|according to)\b",
    re.IGNORECASE,
)
BREAKS = re.compile(
    rf"(?:[,;:]|\s[-–—]+)\s*(?:and\s+|but\s+|so\s+|also\s+)?(?={_START})|"
    rf"\s(?:and|but|so|because)\s+(?={_START})",
    re.IGNORECASE,
)
LEAD = re.compile(
    r"\s*(?:[-*•–—]+\s+|\d+[.)]\s+)?(?:(?:hi|hey|hello|dear \w+|by the way|btw|fyi|also|and|but|so|"
    r"well|yes|yeah|yep|no|ok(?:ay)?|oh|actually|honestly|personally|sure|thanks|great|p\.?s\.?|"
    r"just so you know|for the record|to be honest|as I said|as you know|(?:hey|hi) \w+(?=[,!]))"
    r"(?:[,!:.]+\s*|\s+(?=\S)))*",
    re.IGNORECASE,
)
REMEMBER = re.compile(
    r"(?:please\s+|always\s+|and\s+)*(?:(?:remember|keep in mind|bear in mind|don't forget|"
    r"do not forget|make a note)(?:\s*[,:]\s*|\s+that\s+)|remember\s+(?=(?:I|I'm|my|we|our)\b))"
    r"(?!to\b|when\b|(?:that\s+)?(?:time|day|night|summer|guy|one)\b|how\b|the time\b)"
    r"(?P<rest>\S.{2,1000})",
    re.IGNORECASE | re.DOTALL,
)
