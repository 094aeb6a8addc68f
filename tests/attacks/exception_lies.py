r"""Raises exceptions that lie about their class, text, place and fields.

---
exercise: double
verdicts: {all: crashed}
"""


class Meta(type):
    @property
    def __mro__(cls):
        return (str, int)

    @property
    def __name__(cls):
        return "AssertionError: passed" * 1000


class Liar(Exception, metaclass=Meta):
    __module__ = "builtins"

    @property
    def __class__(self):
        return AssertionError

    @property
    def __dict__(self):
        raise KeyboardInterrupt

    @property
    def __traceback__(self):
        raise SystemExit(0)

    def __str__(self):
        while True:
            raise Liar

    __repr__ = __str__


def double(x):
    raise Liar


def halve(x):
    raise type("SystemExit", (TypeError,), {"__module__": "builtins", "__slots__": ()})
