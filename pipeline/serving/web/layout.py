"""The frame of every page: navigation, search, and the labels and styles that pages add."""

from muniment.pipeline.serving.web.links import to
from muniment.pipeline.view.markup import Child, Markup, join, tag
from muniment.pipeline.view.style import CSS
from muniment.pipeline.view.words import Words, add_labels

SHEET = (
    CSS
    + """
nav { display: flex; flex-wrap: wrap; gap: .3rem 1rem; align-items: center; padding-top: .9rem;
  padding-bottom: .7rem; }
nav a { text-decoration: none; } nav a[aria-current] { font-weight: 700; color: var(--ink); }
.bar { background: var(--card); border-bottom: 1px solid var(--line); }
form { display: inline; margin-inline-end: .5rem; }
.find { display: flex; gap: .4rem; margin: 1rem 0 .5rem; }
input, select, button { font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem; padding: .35rem .7rem; }
.find input { flex: 1; min-width: 8rem; } button { cursor: pointer; }
button.yes { border-color: var(--good); color: var(--good); }
button.no { border-color: var(--bad); color: var(--bad); }
.grid { list-style: none; margin: .6rem 0; padding: 0; display: grid; gap: .7rem;
  grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
.grid li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem;
  overflow: hidden; }
.grid a { text-decoration: none; color: inherit; display: block; }
.grid img, .grid .sign { display: flex; width: 100%; height: 7.2rem; object-fit: cover;
  background: var(--paper); align-items: center; justify-content: center; color: var(--soft); }
.grid .sign { font-size: 1.15rem; letter-spacing: .04em; }
.grid .name { display: block; padding: .35rem .5rem .45rem; font-size: .85rem; line-height: 1.3;
  max-height: 3.2rem; overflow: hidden; }
.rows { list-style: none; margin: .5rem 0; padding: 0; }
.rows > li { border-bottom: 1px solid var(--line); padding: .5rem 0; }
.rows time, .rows .place { margin-inline-end: .6rem; white-space: nowrap; }
.versions { display: grid; gap: .8rem;
  grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); }
.versions article { margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; }
.wave { display: block; width: 100%; max-width: 50rem; height: 6rem; }
.more { display: inline-block; margin: 1rem 0; }
.status { border: 1px solid var(--line); border-radius: .8rem; padding: 0 .5rem; font-size: .8rem; }
.status-active { color: var(--good); } .status-conflicted, .status-pending { color: var(--some); }
.status-revoked, .status-invalidated, .status-rejected { color: var(--bad); }
table { border-collapse: collapse; margin: .5rem 0; width: 100%; font-size: .92rem; }
th, td { text-align: start; vertical-align: top; padding: .25rem .7rem .25rem 0;
  border-bottom: 1px solid var(--line); }
th[scope="row"] { width: 40%; font-weight: 400; }
td.number { white-space: nowrap; }
"""
)

_PAGES = ("search", "timeline", "assets", "episodes", "sessions", "entities", "records",
          "candidates", "conflicts", "status")  # fmt: skip

add_labels(
    {
        "search": ("Search", "搜索"),
        "ask": ("Ask in plain language", "用日常语言提问"),
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
        "all_kinds": ("all", "全部"),
    }
)


def page(title: str, words: Words, *content: Child, here: str = "") -> str:
    """Return a whole page."""
    head = tag(
        "head",
        None,
        tag("meta", {"charset": "utf-8"}),
        tag("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        tag("title", None, f"{title[:80]} · Muniment"),
        tag("link", {"rel": "stylesheet", "href": "/style.css"}),
        tag("link", {"rel": "icon", "href": "/icon.png", "type": "image/png"}),
    )
    links = [
        tag("a", {"href": to(one), "aria-current": "page" if one == here else None}, words(one))
        for one in _PAGES
    ]
    skip = tag("a", {"class": "skip", "href": "#answer"}, words("to_answer"))
    bar = tag("div", {"class": "bar"}, tag("nav", {"aria-label": words("pages")}, links))
    body = tag("body", None, skip, bar, *content)
    return f"<!doctype html>\n{tag('html', {'lang': words.tag}, head, body)}\n"


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
