"""Pairs of submissions that have much code in common, for a person to read side by side, without a verdict.

copydetect compares them: winnowing, in which names do not matter, and the lines of the starter do not count. An
exercise whose answers are too short says nothing of anybody and is left out.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np
from copydetect import CodeFingerprint, compare_files, utils

from grader.batch.journal import Journal
from grader.intake.collect import tokens_in
from grader.model import Course, Exercise
from grader.model.progress import Progress
from grader.model.score import pluralize

_SHORTEST = 100
"""Code of an author's own that is compared has so many characters at least, where each name counts as one."""

_LONGEST = 1 << 17
_ALIKE = 0.8
"""A pair is listed if so much of one of both is in the other."""

_MANY = 0.1
"""If more than this share of all pairs are alike, the task may leave few ways to write it."""

_MOST_PAIRS, _AROUND = 40, 10
_NOISE, _GUARANTEE = 25, 30
"""copydetect's own: no shorter match counts, and a match of the second length is always found."""

Side = tuple[str, float, Sequence[tuple[str, bool]]]
"""An author, the share of their own code that is in the other one, and the text in parts: whether it is in both."""


@dataclass(frozen=True)
class SimilarPairs:
    """The pairs of similar submissions that were found in an exercise.

    Attributes:
        exercise: the exercise.
        compared: the number of submissions that were compared.
        pairs: the pairs to read, the most alike first.
        more: the number of further pairs.
        why_not: the reason why none are listed, or "".
        of: the number of pairs that were compared.
    """

    exercise: Exercise
    compared: int
    pairs: tuple[tuple[Side, Side], ...] = ()
    more: int = 0
    why_not: str = ""
    of: int = 0

    @property
    def in_words(self) -> str:
        """Return in words how many pairs were found, or why none are listed.

        Examples are "3 pairs of 45" and "left out, answers are too short to tell".
        """
        if self.why_not:
            return f"left out, {self.why_not}"
        count = len(self.pairs) + self.more
        many = ": the task may leave few ways to write it" if count > _MANY * self.of else ""
        return f"{pluralize(count, 'pair')} of {self.of}{many}"


def similar_answers(course: Course, journal: Journal, progress: Progress) -> Iterator[SimilarPairs]:
    """Compare the answers that count; yield the similar pairs of each exercise.

    Args:
        course: the course as it is now: its starters do not count.
        journal: the journal, which has the source of each answer.
        progress: the receiver of how many of an exercise's pairs were compared so far.
    """
    for exercise in course.exercises:
        texts = {author: text for author, _, _, text in journal.modules("exercise", exercise.id)}
        yield from similar_files(exercise, texts, progress)


def similar_files(exercise: Exercise, files: Mapping[str, bytes], progress: Progress) -> Iterator[SimilarPairs]:
    """Compare the files of an exercise; yield one `SimilarPairs` with the result.

    Nothing is yielded if fewer than two files can be compared.

    Args:
        exercise: the exercise, whose starter does not count.
        files: the content of each file, by author.
        progress: the receiver of how many of the pairs were compared so far.
    """
    texts = [(author, text) for author, text in files.items() if len(text) <= _LONGEST]
    if len(texts) > 1:
        yield _compare_texts(exercise, texts, progress)


def _compare_texts(exercise: Exercise, texts: Sequence[tuple[str, bytes]], progress: Progress) -> SimilarPairs:
    """Compare all pairs of answers to an exercise; return the similar ones.

    The pairs with most in common come first.

    Args:
        exercise: the exercise, whose starter does not count.
        texts: pairs of an author and the content of the author's file.
        progress: the receiver of how many of the pairs were compared so far.
    """
    starter = exercise.starter.read_bytes() if exercise.starter.is_file() else b""
    starter_hashes = list(prints.hashes) if (prints := _fingerprints(starter, window=1)) is not None else []
    read = ((author, _fingerprints(text, _GUARANTEE - _NOISE + 1, starter_hashes)) for author, text in texts)
    every = [(author, prints) for author, prints in read if prints is not None]
    lengths = [prints.token_coverage for _, prints in every if prints.token_coverage]
    if not lengths or median(lengths) < _SHORTEST:
        return SimilarPairs(exercise, len(every), why_not="answers are too short to tell")
    own = [(author, prints) for author, prints in every if prints.token_coverage >= _SHORTEST]
    total = len(own) * (len(own) - 1) // 2
    alike = []
    for number, ((one, mine), (other, theirs)) in enumerate(combinations(own, 2)):
        if number % 1000 == 0:
            progress.advanced(number, total)
        # Most pairs have little in common, and sets say so quickly.
        common = len(mine.hashes & theirs.hashes)
        if 2 * common < _ALIKE * min(len(mine.hashes), len(theirs.hashes)):
            continue
        _, shares, places = compare_files(mine, theirs)
        if max(shares) >= _ALIKE:
            sides = [(one, mine, shares[0], places[0]), (other, theirs, shares[1], places[1])]
            alike.append(sides)
    alike.sort(key=lambda sides: (-sum(side[2] for side in sides), sides[0][0], sides[1][0]))
    pairs = tuple((_side_of(*sides[0]), _side_of(*sides[1])) for sides in alike[:_MOST_PAIRS])
    return SimilarPairs(exercise, len(own), pairs, len(alike) - len(pairs), of=total)


def _fingerprints(text: bytes, window: int, starter_hashes: Sequence[int] = ()) -> Any:
    """Return copydetect's fingerprints of a Python file, by which it is compared with others.

    The result is None if the child process that reads its tokens fails.

    Args:
        text: the content of the file.
        window: the number of consecutive hashes of which at least one becomes a fingerprint.
        starter_hashes: the hashes of the starter, which do not count.
    """
    if (read := tokens_in(text)) is None:
        return None
    plain, tokens, places = read
    prints = CodeFingerprint("a.py", _NOISE, window, list(starter_hashes), filter=False, fp=io.StringIO(tokens))
    prints.raw_code, prints.offsets = plain, np.array(places)
    return prints


def _side_of(author: str, prints: Any, share: float, places: Any) -> Side:
    """Return one file of a pair as a `Side`.

    Args:
        author: the author of the file.
        prints: the fingerprints of the file, by copydetect.
        share: the share of the author's own code that is in the other file.
        places: the ranges of the text that match, by copydetect.

    Returns:
        A triple such as `("ada", 0.9, [("x = 1", False), ("y = x", True)])`: the author, the share that matches, and
        the parts of the text, each with True if it matches.
    """
    marked, _ = utils.highlight_overlap(prints.raw_code, places.astype(int), "\0", "\0", truncate=_AROUND)
    return author, min(1.0, float(share)), [(part, place % 2 == 1) for place, part in enumerate(marked.split("\0"))]
