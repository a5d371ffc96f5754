"""The relatives and other names of people, in Chinese."""

import re

from muniment.pipeline.proposers.forms import Rule
from muniment.pipeline.proposers.relatives import alias, by_word, kin
from muniment.pipeline.proposers.words_zh import HAN

_KIN = by_word(
    {
        "mother": "妈妈 母亲 老妈 妈",
        "father": "爸爸 父亲 老爸 爸",
        "sister": "姐姐 妹妹 姐 妹",
        "brother": "哥哥 弟弟 哥 弟",
        "daughter": "女儿",
        "son": "儿子",
        "wife": "妻子 老婆 太太",
        "husband": "丈夫 老公 先生",
        "partner": "女朋友 男朋友 未婚夫 未婚妻 爱人",
        "grandmother": "奶奶 外婆 姥姥",
        "grandfather": "爷爷 外公 姥爷",
        "aunt": "姑姑 姨妈 舅妈 婶婶",
        "uncle": "叔叔 舅舅 伯伯 姑父",
        "cousin": "表哥 表弟 表姐 表妹 堂哥 堂弟 堂姐 堂妹",
        "niece": "侄女 外甥女",
        "nephew": "侄子 外甥",
    }
)
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋"
    "蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万"
    "段雷钱汤尹黎易常武乔贺赖龚文"
)
# 小梅, 阿强, 老王: without a word for "called", no other name shows where it ends
_FAMILIAR = (
    r"(?:小(?!学|时|孩|心|区|说|组|气|事|声|便|朋|姐|吃|狗|猫|看|伙)|阿(?!姨)|"
    r"老(?!师|家|板|是|婆|公|人|实|乡|了|早|想))(?![的了在是也都就不很要会有去来])"
)
_PERSON = rf"(?:{_FAMILIAR}[{HAN}]|[{_SURNAMES}](?:(?!的)[{HAN}]){{1,2}})"
_NO_NAME = r"(?!什么|啥|[我你您他她它不醒去来])"
_TOLD = re.compile(r"不|没|别|[“”\"「」『』‘]|说|告诉|问|讲|写道|认为|觉得|以为|[你您他她]")

RULES = (
    Rule(
        "zh.kin",
        re.compile(
            rf"[^，,。！!？?\n]{{0,12}}?我的?(?:[大小二三]|亲)?(?P<kin>{'|'.join(_KIN)})"
            rf"(?:(?:的名字)?(?:名?叫做?|是叫|(?<=名字)是){_NO_NAME}(?P<value>[{HAN}·]{{2,5}})$|"
            rf"(?P<familiar>{_FAMILIAR}[{HAN}]))"
        ),
        kin(_KIN, _TOLD),
        about_self=True,
    ),
    Rule(
        "zh.alias",
        re.compile(
            rf"(?P<who>{_PERSON})(?:[也又](?:叫做?|称为?)|的?(?:小名|外号|绰号|昵称|英文名)"
            rf"(?:叫做?|是)){_NO_NAME}(?P<value>[{HAN}·]{{2,5}}|[A-Za-z][\w .'-]{{1,30}})$"
        ),
        alias,
    ),
)
