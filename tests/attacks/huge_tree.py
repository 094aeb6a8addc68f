r"""Returns containers as wide and as deep as a message may be, and beyond.

---
exercise: tables
verdicts: {words: failed|skipped, more_words: failed|skipped, shouts: crashed, shouts_more: crashed}
"""


def count(text):
    return {f"{number:x}": [number] for number in range(5000)}


def shout(text):
    nested = []
    for _ in range(5000 if text == "ho" else 60):
        nested = [nested, nested]
    return nested
