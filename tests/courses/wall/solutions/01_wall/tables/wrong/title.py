"""Only the first letter is a capital one.

caught by: shouts
"""


def count(text):
    words = text.split()
    return {word: words.count(word) for word in words}


def shout(text):
    return text.title()
