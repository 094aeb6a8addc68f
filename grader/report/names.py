"""Names of people, in the forms in which they are compared."""

from __future__ import annotations

import unicodedata


def fold_name(text: str) -> str:
    """Return a name in the form in which names are compared.

    `Ada  LOVELACE` becomes `ada lovelace`. Different encodings of the same letter make no difference, either.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def letters_and_digits(text: str) -> str:
    """Return the letters and digits of a name, folded: `O'Neil, Ada` becomes `oneilada`.

    Platforms leave out all other characters when they write a name into a file name. See `fold_name`.
    """
    return "".join(filter(str.isalnum, fold_name(text)))
