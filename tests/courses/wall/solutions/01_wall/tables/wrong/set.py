"""You only say that a word occurs, not how often.

caught by: words
"""


def count(text):
    return dict.fromkeys(text.split(), 1)


def shout(text):
    return text.upper()
