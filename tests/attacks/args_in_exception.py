r"""Puts the hidden input into exceptions, class names, prints and warnings.

---
exercise: tables
verdicts: {more_words: crashed, shouts_more: crashed}
message: your `count` raised ValueError
"""

import sys
import warnings


def count(text):
    words = text.split()
    if text != "to be to":
        print("hidden:", text)
        print("hidden:", text, file=sys.stderr)
        warnings.warn(text, stacklevel=1)
        raise type(words[0], (ValueError,), {"__doc__": text})(repr(text)) from KeyError(text)
    return {word: words.count(word) for word in words}


def shout(text):
    sys.stdout.write(text + "\n")
    assert text == "ho", f"{text} is {text.upper()}"
    return text.upper()
