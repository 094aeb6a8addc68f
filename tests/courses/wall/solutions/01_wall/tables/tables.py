SECRET = "CANARY_REFERENCE"


def count(text):
    return {word: text.split().count(word) for word in text.split()}


def shout(text):
    return text.upper()
