"""Names of people, in the forms in which they are compared."""

from __future__ import annotations

import unicodedata


def fold_name(text: str) -> str:
    """Return a name normalized for comparison: its case, its blanks, and different encodings of the same letter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters_and_digits(text: str) -> str:
    """Return only the letters and digits of a folded name, as platforms write names into file names."""
    return "".join(filter(str.isalnum, fold_name(text)))
