"""Receipts: total, date and merchant, read from the lines of one document.

Precision first: a total needs its label and an amount, and the page must look like a receipt.
"""

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from muniment.pipeline.proposers.base import Passage, Quote
from muniment.pipeline.proposers.dates import find_date

MOST_LINES = 200
MERCHANT_LINES = 4  # a merchant stands at the top

_CURRENCY = r"(?:[$€£¥￥]|(?:US|HK|NT|C|A)\$|RMB|CNY|USD|EUR|GBP|JPY|CHF|HKD|元)"
_NUMBER = r"\d{1,3}(?:[,.' ]\d{3})+(?:[.,]\d{2})|\d{1,7}[.,]\d{2}"
_AMOUNT = re.compile(
    rf"(?P<before>{_CURRENCY})?\s*(?P<number>{_NUMBER}|(?<=[$€£¥￥])\d{{1,7}}|\d{{1,7}}(?=\s*元))"
    rf"(?!\d|[.,%]\d|\s*%)\s*(?P<after>{_CURRENCY})?",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"^\W*(?:grand\s+total|total(?:\s+(?:due|amount|paid|to\s+pay|incl\b.*?))?|amount\s+(?:due|"
    r"paid)|balance\s+due|summe|gesamt(?:betrag)?|应付(?:金额|总额)?|实付(?:金额|款)?|"
    r"实收(?:金额)?|合计(?:金额)?|总计|总金额|总额|總計|合計|應付金額|實付金額)(?![a-z])",
    re.IGNORECASE,
)
_NOT_TOTAL = re.compile(
    r"^\W*(?:sub\s*-?\s*total|total\s+(?:items?|qty|quantity|savings?|tax|vat|discount)|小计|小計|"
    r"合计(?:数量|件数))",
    re.IGNORECASE,
)
_RECEIPT = re.compile(
    r"\b(?:receipt|invoice|sub\s*-?total|tax|vat|gst|cash(?:ier)?|change|visa|mastercard|"
    r"card|order\s*(?:no|#|number)|qty|thank\s+you)\b|收据|收據|发票|發票|小票|收银|收銀|找零|"
    r"税额|稅額|小计|小計|数量|單價|单价|订单号|訂單號|支付宝|微信支付|谢谢惠顾|謝謝惠顧",
    re.IGNORECASE,
)
_NO_MERCHANT = re.compile(
    r"^\W*(?:receipt|invoice|tax invoice|welcome|thank you|date|time|tel|phone|order|customer|"
    r"copy|收据|發票|发票|小票|欢迎光临|歡迎光臨|日期|时间|电话|订单|购物小票|销售单)",
    re.IGNORECASE,
)
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "CNY", "￥": "CNY", "元": "CNY", "RMB": "CNY"}


class Line(NamedTuple):
    """A line of a document, and where it stands in its passage."""

    passage: Passage
    start: int
    text: str

    @property
    def quote(self) -> Quote:
        """Quote the line."""
        end = self.start + len(self.text)
        return Quote(self.passage.observation, self.text, self.start, end)


class Receipt(NamedTuple):
    """What a receipt says: ``total`` as ``12.30 EUR``, the merchant's name, the day."""

    total: str
    total_line: Line
    merchant: Line | None
    date: Any
    date_line: Line | None


def lines_of(passages: Sequence[Passage]) -> list[Line]:
    """Cut passages into lines without the blanks around them."""
    lines = []
    for passage in passages:
        for match in re.finditer(r"[^\n]+", passage.text):
            text = match.group().strip()
            if text:
                start = match.start() + match.group().index(text)
                lines.append(Line(passage, start, text))
    return lines


def find_receipt(lines: Sequence[Line]) -> Receipt | None:
    """Return what a receipt says, or null when the lines are none."""
    lines = lines[:MOST_LINES]
    found = _total(lines)
    if found is None:
        return None
    total, total_line = found
    dated = next(
        ((when, line) for line in lines if (when := find_date(line.text, None)) is not None), None
    )
    signs = sum(1 for line in lines if line is not total_line and _RECEIPT.search(line.text))
    if not signs or (dated is None and signs < 2):  # noqa: PLR2004 (two signs are a pattern)
        return None
    return Receipt(
        total, total_line, _merchant(lines, total_line),
        None if dated is None else dated[0].moment, None if dated is None else dated[1],
    )  # fmt: skip


def _total(lines: Sequence[Line]) -> tuple[str, Line] | None:
    """Return the last total: what comes before it are sums of parts."""
    best = None
    for at, line in enumerate(lines):
        label = _TOTAL.match(line.text)
        if label is None or _NOT_TOTAL.match(line.text):
            continue
        rest = line.text[label.end() :]
        amount = _amount(rest)
        if amount is not None:
            best = (amount, line)
        elif not re.search(r"\w", rest) and at + 1 < len(lines):
            alone = lines[at + 1]
            amount = _amount(alone.text) if _AMOUNT.fullmatch(alone.text) else None
            best = best if amount is None else (amount, alone)
    return best


def _amount(text: str) -> str | None:
    matches = list(_AMOUNT.finditer(text))
    if not matches:
        return None
    match = matches[-1]
    number = match["number"].replace(" ", "").replace("'", "")
    whole, cents = (number[:-3], number[-2:]) if re.search(r"[.,]\d{2}$", number) else (number, "")
    digits = re.sub(r"[.,]", "", whole)
    sign = (match["before"] or match["after"] or "").upper()
    try:
        value = Decimal(f"{digits}.{cents}" if cents else digits)
    except InvalidOperation:
        return None
    return f"{value} {_SIGNS.get(sign, sign)}".strip()


def _merchant(lines: Sequence[Line], total: Line) -> Line | None:
    for line in lines[:MERCHANT_LINES]:
        letters = sum(character.isalpha() for character in line.text)
        name = letters >= 2 and letters * 2 >= len(line.text.replace(" ", ""))  # noqa: PLR2004
        if name and line is not total and not _NO_MERCHANT.match(line.text):
            return line
    return None
