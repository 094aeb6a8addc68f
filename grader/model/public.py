"""Texts that a student may be told of a hidden check: sentences of ours, with words in their holes.

Student code knows the hidden inputs when it answers. Whatever it says in free text, and whatever is counted or measured
of it, could carry them out. So a public text is not made of strings, but of a template and its words, and stays so
until `session.words` has looked at every word: it is of a closed set, or stands in the check's own file. A template is
a literal of ours, which a test holds.
"""

from __future__ import annotations


class Public(str):
    """A public text.

    Attributes:
        template: with `{}` for each word.
        words: what stands in the holes; a word may be such a text itself.
    """

    template: str
    words: tuple[str, ...]

    __slots__ = ("template", "words")

    def __new__(cls, template: str, *words: object) -> Public:
        """The text, which is an ordinary str where nothing is hidden."""
        # What lives in a worker has a word of ours; its text would be the worker's to choose.
        texts = tuple(map(_text, words))
        self = super().__new__(cls, template.format(*texts))
        texts = tuple(word if isinstance(word, str) else text for word, text in zip(words, texts, strict=True))
        self.template, self.words = template, texts
        return self


def _text(word: object) -> str:
    ours = getattr(type(word), "__word__", None)
    return str(word) if ours is None else str(ours(word))


class Limit(str):
    """A number that a check asks for, as a word: it is told if it stands in the check's file as a number."""

    __slots__ = ()


def say(template: str, *words: object) -> Public:
    """A public text; the template is a literal."""
    return Public(template, *words)


NOT_ASKED = say("the result is not what is asked")
"""What is said where nothing else may be."""
