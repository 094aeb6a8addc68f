"""Names of people, in the forms in which they are compared."""

from __future__ import annotations

import unicodedata


def fold_name(text: str) -> str:
    """Normalize a name for comparison: its case, its blanks, and different encodings of the same letter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters_and_digits(text: str) -> str:
    """Fold a name and return only its letters and digits, as platforms write names into file names."""
    return "".join(filter(str.isalnum, fold_name(text)))
