r"""Returns a number of millions of digits, and numbers of classes that spell themselves out slowly.

---
exercise: tables
verdicts: {words: failed|skipped, more_words: failed|skipped, shouts: failed|skipped, shouts_more: failed|skipped}
"""

from decimal import Decimal
from fractions import Fraction


def count(text):
    return {"to": 1 << 40_000_000, "be": 1}


def shout(text):
    return [Fraction(1 << 4_000_000, 3), Decimal(1 << 100_000)]
