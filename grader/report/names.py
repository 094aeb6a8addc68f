"""Names of people, in the forms in which they are compared."""

from __future__ import annotations

import unicodedata


def folded(text: str) -> str:
    """Return a name without what may differ where it is typed again: case, blanks, and ways to write a letter."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters_and_digits(text: str) -> str:
    """Return a folded name without blanks and signs, as platforms write names into those of files."""
    return "".join(filter(str.isalnum, folded(text)))
