"""Student text made safe for the place where it is shown."""

from __future__ import annotations

import unicodedata

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def for_terminal(text: str) -> str:
    """Text that cannot move the cursor, change colours, or reverse what is read: such characters are spelled out."""
    return "".join(char if char in "\n\t" or not _is_control(char) else _spelled(char) for char in text)


def for_csv(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _is_control(char: str) -> bool:
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _spelled(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")
