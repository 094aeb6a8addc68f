r"""Returns dicts with keys and numbers that JSON has no words for.

---
exercise: tables
verdicts: {words: failed|skipped, more_words: failed|skipped, shouts: failed|skipped, shouts_more: failed|skipped}
"""

NAN = float("nan")


def count(text):
    return {NAN: NAN, 1: 2, "1": 3, None: NAN, (1, NAN): [float("inf")], True: -float("inf")}


def shout(text):
    return {"a": {"a": NAN, "b\0": "\ud800"}, "": float("inf")}
