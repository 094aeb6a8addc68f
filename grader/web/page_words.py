"""Sentences of commands in the words of pages: where a terminal has an option, a page has a control."""

from __future__ import annotations

import re

_WORDS = (
    (r": grade diff .+ shows which scores changed\.", ": the page Changes shows which scores changed."),
    (
        r"Because of --never-lower, (.+) did not count: grade diff .+ names them\.",
        r"\1 did not count, as you chose: the page Changes names them.",
    ),
    (r"not counted, because of --never-lower", "not counted, because it is lower"),
    (
        r"To see why, run the same command with --staff, and read (.+)\. After the fix, add --rerun broken\.",
        r"A terminal shows why: grade batch with --staff. After the fix, choose *what is broken* in Grade again.",
    ),
    (r"left as it was; --zeros fills in 0", "left as it was; check the box about them to fill in 0"),
    (r"--zeros: ", "No 0 is filled in: "),
    (r", or add --scale", ", or check the box that scales"),
    (r"run the same  grade batch  again", "use the page Grade again"),
)


def in_page_words(sentence: str) -> str:
    """Return a sentence that a command prints, in the words of a page.

    Where the command has an option to type, the page has a button or a box: "run the same  grade batch  again" becomes
    "use the page Grade again".
    """
    for pattern, words in _WORDS:
        sentence = re.sub(pattern, words, sentence)
    return sentence
