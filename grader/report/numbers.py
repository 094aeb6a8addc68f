"""Numbers as other programs write them."""

from __future__ import annotations

import re

_LONGEST_NUMBER = 30

_WHOLE = re.compile(r"\d{1,3}(?:([., '\u00a0\u202f])\d{3})*|\d+")


def parse_hundredths(text: str) -> int | None:
    """Parse a number with a decimal point or comma, and return it in hundredths.

    `8.5` and `8,5` return 850. `1,000.00` and `1.000,00` return 100000: the last sign begins the decimals. Return None
    for a text that is not a number, or is ambiguous, as `1,000`.
    """
    text = text.strip()
    if len(text) > _LONGEST_NUMBER:
        return None
    cut = max(text.rfind("."), text.rfind(","))
    whole, decimals = (text[:cut], text[cut + 1 :]) if cut >= 0 else (text, "")
    if cut >= 0 and text.count(text[cut]) > 1:  # the sign stands between thousands
        whole, decimals = text, ""
    elif cut >= 0 and len(decimals) == 3 and whole.isdecimal() and 0 < len(whole) <= 3:
        return None
    negative, whole = whole.startswith("-"), whole.removeprefix("-")
    signs = {char for char in whole if not char.isdecimal()}
    if not (_WHOLE.fullmatch(whole) and len(signs) <= 1 and (decimals.isdecimal() or not decimals)):
        return None
    if cut >= 0 and text[cut] in signs and decimals:
        return None
    value = round(float(f"{''.join(char for char in whole if char.isdecimal())}.{decimals or 0}") * 100)
    return -value if negative else value
