r"""Puts the hidden input into what it returns: class names, keys, types, text, attributes.

---
exercise: tables
verdicts: {more_words: failed|skipped, shouts_more: failed|skipped}
"""


def count(text):
    words = text.split()
    if text != "to be to":
        return type(words[0], (), {"__repr__": lambda self: text, "__name__": text})()
    return {word: words.count(word) for word in words}


def shout(text):
    return text.upper() if text == "ho" else {text: [text], "text": text}
