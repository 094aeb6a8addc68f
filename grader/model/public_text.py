"""Texts of hidden checks that a student may read: a template of ours, with words in its fields.

Student code knows the hidden inputs when it answers, so any free text of its own, and any number that is counted or
measured, could carry them out. A public text therefore keeps its template and its words apart until
`check_process.hidden_words` has looked at each word: it belongs to a closed set, or stands in the check's own file.
Templates are literals; a test enforces that.
"""

from __future__ import annotations


class Public(str):
    """A public text.

    Attributes:
        template: the text with `{}` for each word.
        words: the words for these fields; a word may be a public text itself.
    """

    template: str
    words: tuple[str, ...]

    __slots__ = ("template", "words")

    def __new__(cls, template: str, *words: object) -> Public:
        """Fill the words into the template; a shown check uses the result as an ordinary str.

        `Public("{} has {} dims", "x", 3)` is "x has 3 dims".
        """
        # An object in a worker is named by a word of ours; the worker could choose its text.
        texts = tuple(map(_text_of_word, words))
        self = super().__new__(cls, template.format(*texts))
        texts = tuple(word if isinstance(word, str) else text for word, text in zip(words, texts, strict=True))
        self.template, self.words = template, texts
        return self


def _text_of_word(word: object) -> str:
    ours = getattr(type(word), "__word__", None)
    return str(word) if ours is None else str(ours(word))


class Limit(str):
    """A limit as a word: a hidden check shows it if its file contains that number."""

    __slots__ = ()


class DictKey(str):
    """A key of a dict as a word: a hidden check shows it if its file contains that text."""

    __slots__ = ()

    def __new__(cls, key: object) -> DictKey:
        """Return a text such as `the key 'mask'`, with the key as Python writes it."""
        return super().__new__(cls, f"the key {key!r}")


def say(template: str, *words: object) -> Public:
    """Return a public text: a template, which must be a literal, with words in its fields.

    `say("{} has {} dims", "x", 3)` reads "x has 3 dims".
    """
    return Public(template, *words)


NOT_EXPECTED = say("the result is not as expected")
"""The message of a hidden check that may say nothing else."""
