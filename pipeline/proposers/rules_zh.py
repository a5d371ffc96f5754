"""The explicit statements of Chinese, in either script."""

import re
from collections.abc import Iterator

from muniment.pipeline import keys
from muniment.pipeline.proposers import forms, relatives_zh
from muniment.pipeline.proposers import words_zh as words
from muniment.pipeline.proposers.dates import birthday, find_date
from muniment.pipeline.proposers.forms import Clause, Language, Made, Rule
from muniment.pipeline.proposers.words_zh import (
    FROM_NOW,
    HAN,
    KIN,
    NAME,
    NO_EMPLOYER,
    NO_PLACE,
    NOT_A_NAME,
    OFTEN,
    PROFESSION,
    STOP,
    VAGUE,
    WORK,
)

_EMPLOYER = re.compile(
    r"公司|集团|银行|大学|学院|科院|医院|中学|小学|科技|研究[所院]|局$|厂$|事务所|工作室|报社|出版社|政府|"
    r"华为|腾讯|阿里|百度|字节|京东|美团|小米|网易|微软|谷歌|苹果|亚马逊|[A-Za-z]"
)
_FLOOR = re.compile(r"^[一二三四五六七八九十\d]+[楼层号室]|^(?:楼上|楼下|老家|城里|乡下|郊区)$")
_BARE_VERBS = frozenset("吃喝玩看听说做用要去来")
_LEFT_OVER = re.compile(
    r"^(?:请|麻烦|你|您|到时候|到时|帮我|记得|一定|务必|要|的|时候|之前|以前|前|在|到|可以|于|能不能|可不可以|能|千万|，|,|我)*$"
)


def _polarity(verb: str) -> str:
    if "更" in verb or "偏爱" in verb:
        return "prefer"
    return "dislike" if re.search(r"不|讨厌|恨|厌恶", verb) else "like"


def _birthday(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    day = birthday(clause.part(match, "value"))
    if day is not None:
        yield Made("semantic", "fact", keys.BIRTHDAY, day, salience=0.8)


def _address(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    value = clause.part(match, "value")
    yield Made("semantic", "fact", keys.FORM_OF_ADDRESS, value, salience=0.9, instructed=True)


def _allergies(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    if not re.search(r"不|没|别", match["value"]):
        yield from forms.allergies(clause, match)


def _workplace(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Tell an employer from a town as far as the name shows it."""
    value = clause.part(match, "value")
    key = keys.EMPLOYER if _EMPLOYER.search(value) else keys.WORKPLACE
    yield Made("semantic", "fact", key, value, salience=0.7)


def _home(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    if not _FLOOR.search(match["value"]):
        yield Made("semantic", "fact", keys.HOME, clause.part(match, "value"), salience=0.7)


def _liking(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    if match["value"] not in _BARE_VERBS:
        yield from forms.liking(_polarity)(clause, match)


def _when_due(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make a task when the words before the verb are a date and politeness, nothing else."""
    before = match["when"]
    found = find_date(before, clause.said)
    rest = before if found is None else before[: found.start] + before[found.end :]
    if _LEFT_OVER.match(rest):
        yield from forms.task(clause, match)


def _dated_task(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    yield from (made for made in _when_due(clause, match) if made.due_at is not None)


_ASKED = frozenset({"question", "hypothetical"})
_ANY_TIME = frozenset({"hypothetical", "past"})
_HYPOTHETICAL = frozenset({"hypothetical"})

_RULES = (
    Rule(
        "zh.form_of_address",
        re.compile(
            rf"(?:{FROM_NOW}|请|你|您|可以|就|直接|都|那|麻烦|还是)*(?:叫我|喊我|称呼我为|称呼我|管我叫){NOT_A_NAME}(?!.*(?:还是|或))"
            rf"(?P<value>{NAME})(?:就行|就好|就可以|就是|好了|即可|吧|了|哦|啊|呀)*$"
        ),
        _address,
    ),
    Rule(
        "zh.name",
        re.compile(rf"我(?:的?(?:名字|全名|真名)(?:是|叫)|叫做|叫){NOT_A_NAME}(?P<value>{NAME})$"),
        forms.one(keys.NAME, salience=0.9),
    ),
    Rule(
        "zh.reminder",
        re.compile(
            r"(?P<when>[^。！？!?\n]{0,24}?)提醒(?:一下)?我(?:一下)?[，,：: ]*(?:要|去|"
            r"记得)?(?P<value>.{2,100})$"
        ),
        _when_due,
        allows=_ASKED,
        whole=True,
    ),
    Rule(
        "zh.reminder",
        re.compile(
            r"(?P<when>[^。！？!?\n，,]{0,16}?)(?:记得|别忘了|不要忘了|别忘记|不要忘记)(?:要)?"
            r"(?P<value>(?!我|你|他|她|那|这|吗|上次|小时候|当时|了).{2,100})$"
        ),
        _when_due,
        whole=True,
    ),
    Rule(
        "zh.lesson",
        re.compile(
            rf"请?(?:{FROM_NOW}|每次|每当){WORK}(?!我(?:们|要|会|想|就|再|不)|请?叫我|请?称呼|提醒)"
            r"(?P<value>.*?(?:请|不要|别|必须|都要|都用|都得|一律|记得|务必|只用|要用|要先|先|尽量).{2,})$"
        ),
        forms.lesson,
        allows=_ANY_TIME,
        whole=True,
        to_assistant=True,
    ),
    Rule(
        "zh.lesson",
        re.compile(
            rf"{WORK}请?你?要?(?P<value>(?:总是|永远|始终|一律|千万)(?:不要|别|不能|用|要|以|先|给|把|使用|保持).{{1,}})$"
        ),
        forms.lesson,
        allows=_ANY_TIME,
        whole=True,
        to_assistant=True,
    ),
    Rule(
        "zh.lesson",
        re.compile(
            r"你?(?P<value>(?:回答|回复|答复|写代码|解释|"
            r"翻译)[^。\n]{0,20}?[，, ]*(?:请|必须|不要|别|只|都|一律|要)"
            r"(?:用|以|先|给|使用|保持|简短|简洁|直接|说|写|加|超过).*)$"
        ),
        forms.lesson,
        allows=_ANY_TIME,
        whole=True,
        to_assistant=True,
    ),
    Rule(
        "zh.allergy",
        re.compile(
            rf"我{OFTEN}对(?!你|您|他|她|它|这|那|什么|谁|所有)(?P<value>[^，,。！!\n]{{1,30}}?)(?:都|会|很|特别|非常|有点|有些|严重|轻度|重度|也)*过敏{STOP}"
        ),
        _allergies,
        about_self=True,
    ),
    Rule(
        "zh.allergy",
        re.compile(
            rf"我{OFTEN}(?:有|患有)?(?!对|皮肤|鼻子|脸|会|容易|又|有点|经常|昨|今|体质|什么)"
            rf"(?!{KIN})(?P<value>(?:(?!对|的)[{HAN}、]){{1,10}}?)过敏症?{STOP}"
        ),
        _allergies,
        about_self=True,
    ),
    Rule(
        "zh.birthday",
        re.compile(r"我的?(?:生日|出生日期)(?:是|在|为|：|:)?\s*(?P<value>.{2,30})$"),
        _birthday,
        about_self=True,
    ),
    Rule(
        "zh.birthday",
        re.compile(r"我(?:是|出生于|出生在|生于|于|在)?(?P<value>.{4,20}?)(?:出生|生)?的?$"),
        lambda clause, match: (
            _birthday(clause, match) if re.search(r"出生|生于|生的?$", clause.folded) else iter(())
        ),
        about_self=True,
    ),
    Rule(
        "zh.home",
        re.compile(
            rf"我(?:们家|家)?(?:[从自][^，,。]{{1,10}}?(?:起|开始)|[从自]\d{{4}}年)?{OFTEN}(?:定居在|定居|搬到了?|搬去了?|住在|住|在(?=[^，。]{{2,12}}定居))"
            rf"{NO_PLACE}(?P<value>[{HAN}A-Za-z·. ]{{2,20}}?)(?:定居|生活|居住)?{STOP}"
        ),
        _home,
        about_self=True,
    ),
    Rule(
        "zh.home",
        re.compile(
            rf"我家{OFTEN}(?:住在|住|"
            rf"在(?![装搬下办吃做等开种养修盖打])){NO_PLACE}"
            rf"(?P<value>[{HAN}A-Za-z·. ]{{2,20}}?){STOP}"
        ),
        _home,
        about_self=True,
    ),
    Rule(
        "zh.employer",
        re.compile(
            rf"我{OFTEN}在{NO_EMPLOYER}(?P<value>[^，,。！!\n]{{2,20}}?)(?:工作|上班|任职|就职)(?:了)?$"
        ),
        _workplace,
        about_self=True,
    ),
    Rule(
        "zh.job",
        re.compile(
            rf"我{OFTEN}(?:是|当|做)(?:一名|一个|一位|个|名|位)?"
            rf"(?P<value>[^，,。的不你他她我\n]{{0,10}}?{PROFESSION})$"
        ),
        forms.one(keys.JOB),
        about_self=True,
    ),
    Rule(
        "zh.job",
        re.compile(r"我的?(?:工作|职业|本职)是(?!什么|啥)(?P<value>[^，,。！!\n]{2,20})$"),
        forms.one(keys.JOB),
        about_self=True,
    ),
    Rule(
        "zh.favourite",
        re.compile(
            rf"我{OFTEN}(?:最喜欢|最爱|喜欢|爱)的?(?P<what>[{HAN}]{{1,8}}?)是{VAGUE}"
            rf"(?P<value>[^，,。！!\n]{{1,30}}?)(?:了|啦|呢)?$"
        ),
        forms.favourite,
        about_self=True,
    ),
    Rule(
        "zh.preference",
        re.compile(
            rf"我{OFTEN}(?P<verb>(?:更|不太?|不怎么|很不|最不)?(?:喜欢|喜爱|热爱|偏爱|钟爱|爱(?!人|情|好|上|国|心|你))"
            rf"|讨厌|厌恶|恨|受不了){VAGUE}(?P<value>[^，,。；;！!？?：:\n]{{1,30}}?)(?:了|啦|呢|呀|啊|哦)?$"
        ),
        _liking,
        about_self=True,
    ),
    Rule(
        "zh.promise",
        re.compile(r"我(?:保证|答应你?您?|承诺|发誓)[，,]?(?:我?会?)(?P<value>(?!过|了).{2,100})$"),
        forms.promise,
        whole=True,
        about_self=True,
    ),
    Rule(
        "zh.promise",
        re.compile(
            r"我(?:[今明后下这本周月星期礼拜末天日号早中午晚上前之一二三四五六七八九十\d点]{1,10})?"
            r"(?:一定)?(?:会|将)(?!不)(?P<value>.{3,100}(?<!了))$"
        ),
        forms.dated_promise,
        about_self=True,
    ),
    Rule(
        "zh.promise",
        re.compile(
            r"我(?P<value>(?!昨|前天|上|不|没)[^，,]{0,12}?(?:把.+(?:给|发|交|还|寄).*|(?:之前|以前|前(?!面|天|年|两|几|些)).{1,40})(?<!了))$"
        ),
        forms.dated_promise,
        about_self=True,
    ),
    Rule(
        "zh.task",
        re.compile(
            r"(?:我们?)?(?P<when>[^，,。\n]{2,16}?)(?:我们?)?(?:要|得|需要|必须|应当|打算)"
            r"(?P<value>(?!下雨|下雪|降温|放假|是|到了|来了|热|冷|变|不要).{2,60}(?<!了))$"
        ),
        _dated_task,
    ),
)

CHINESE = Language(
    name="zh",
    speaks=words.SPEAKS,
    rules=(*_RULES, *relatives_zh.RULES),
    vetoes=words.VETOES,
    reported=words.REPORTED,
    breaks=words.BREAKS,
    lead=words.LEAD,
    remember=words.REMEMBER,
)
