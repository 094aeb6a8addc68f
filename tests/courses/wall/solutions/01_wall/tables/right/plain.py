"""By methods of str."""


def count(text):
    words = text.split()
    return {word: words.count(word) for word in words}


def shout(text):
    return text.upper()
