"""Count and shout

C1  `count(text)` returns a dict: how often each word of the text occurs.
C2  `shout(text)` returns the text in capital letters.
"""


def count(text):
    raise NotImplementedError  # TODO


def shout(text):
    raise NotImplementedError  # TODO
