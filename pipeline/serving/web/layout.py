"""The frame of every page: navigation, search, and the labels and styles that pages add."""

from muniment.pipeline.serving.web.links import to
from muniment.pipeline.serving.web.sheet import SHEET
from muniment.pipeline.view.markup import Child, Markup, join, tag
from muniment.pipeline.view.words import Words, add_labels

_PAGES = ("search", "timeline", "assets", "episodes", "sessions", "entities", "records",
          "candidates", "conflicts", "status")  # fmt: skip

add_labels(
    {
        "search": ("Search", "搜索"),
        "ask": ("Ask in plain language", "用日常语言提问"),
        "by_words": ("Looked for by words, not by what they mean.", "仅按字词查找，未按含义查找。"),
        "timeline": ("Timeline", "时间线"),
        "assets": ("Assets", "素材"),
        "candidates": ("Review", "审阅"),
        "status": ("Status", "状态"),
        "pages": ("Pages", "页面"),
        "older": ("Older", "更早"),
        "more": ("More", "更多"),
        "nothing": ("Nothing here yet.", "这里还没有内容。"),
        "error": ("That did not work", "未能完成"),
        "text": ("text", "文本"),
        "image": ("image", "图片"),
        "audio": ("audio", "音频"),
        "video": ("video", "视频"),
        "pdf": ("PDF", "PDF"),
        "chat": ("chat", "聊天"),
        "statement": ("statement", "说明"),
        "document": ("document", "文档"),
        "subtitle": ("subtitles", "字幕"),
        "office.docx": ("Word", "Word"),
        "office.xlsx": ("Excel", "Excel"),
        "office.pptx": ("PowerPoint", "PowerPoint"),
        "office.legacy": ("older Office", "旧版 Office"),
        "opendocument": ("OpenDocument", "OpenDocument"),
        "epub": ("e-book", "电子书"),
        "rtf": ("RTF", "RTF"),
        "mail": ("mail", "邮件"),
        "calendar": ("calendar", "日历"),
        "contact": ("contacts", "通讯录"),
        "slack": ("Slack", "Slack"),
        "archive": ("archive", "压缩包"),
        "all_kinds": ("all", "全部"),
    }
)


END = "</body></html>\n"


def page(title: str, words: Words, *content: Child, here: str = "") -> str:
    """Return a whole page."""
    return "".join((begin(title, words, here=here), join(*content), END))


def begin(title: str, words: Words, *, here: str = "") -> str:
    """Return a page up to its content: what can be seen while that is still looked for."""
    head = tag(
        "head",
        None,
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("title", None, f"{title[:80]} · Muniment"),
        tag("style", None, Markup(SHEET)),
        tag("link", {"rel": "icon", "href": "/icon.png", "type": "image/png"}),
    )
    links = [
        tag("a", {"href": to(one), "aria-current": "page" if one == here else None}, words(one))
        for one in _PAGES
    ]
    skip = tag("a", {"class": "skip", "href": "#answer"}, words("to_answer"))
    bar = tag("div", {"class": "bar"}, tag("nav", {"aria-label": words("pages")}, links))
    return f'<!doctype html>\n<html lang="{words.tag}">{head}<body>{skip}{bar}'


def main(title: str, *content: Child) -> Markup:
    """Return the main part of a page under its heading."""
    return tag("main", {"id": "answer"}, tag("h1", {"dir": "auto"}, title), *content)


def search_box(words: Words, query: str = "") -> Markup:
    """Return the form that asks."""
    label = words("ask")
    return tag(
        "form",
        {"class": "find", "action": to("search"), "method": "get", "role": "search"},
        tag("input", {"type": "search", "name": "q", "value": query, "aria-label": label,
                      "placeholder": label, "autofocus": not query}),
        tag("button", {"type": "submit"}, words("search")),
    )  # fmt: skip


def facts(pairs: list[tuple[str, Child]]) -> Markup:
    """Return a list of names and values; what has no value is left out."""
    rows = [
        join(tag("dt", None, name), tag("dd", None, value))
        for name, value in pairs
        if value not in (None, "", [])
    ]
    return tag("dl", None, rows)


def more(words: Words, address: str | None, label: str = "older") -> Markup | None:
    """Return the link to the next page, where there is one."""
    if address is None:
        return None
    return tag("a", {"class": "more", "href": address, "rel": "next"}, words(label), " →")
