"""Known mistakes in a copy that has no wrong answers: a digest of what each does in the shown checks, and a sentence.

The sentence is sealed with that same behaviour: who makes the mistake reads it, and who looks into the file does not.
It is no secret that lasts, since anybody can write wrong code on purpose; it keeps a list of mistakes from being read
before they are made. Nothing of hidden checks, of inputs or of an answer's text is in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grader.grading.traces import Traces

SEALED_SEEDS = (0, 1)
"""Those with which an answer must do the same: the first is that of a student's own copy."""

_VERSION = 2
_NAME = re.compile(r"[0-9a-f]{32}")
_SEALED = re.compile(r"[0-9A-Za-z+/]+={0,2}")
_MARK = 8

Sealed = Mapping[str, Sequence[str]]
"""By a name that the first behaviour gives, what is sealed with all of them."""


def name_of(exercise: str, first: Traces) -> str:
    """Under which name the mistakes stand that do this with the first of the seeds."""
    return _digest("name", exercise, [first]).hex()[:32]


def seal(exercise: str, behaviour: Sequence[Traces], sentences: Mapping[str, Iterable[str]]) -> str:
    """Sentences that only this behaviour opens: what is done with each of the seeds.

    Args:
        exercise: its id.
        behaviour: what opens them.
        sentences: each with the names that must stand in the code.
    """
    text = json.dumps({sentence: sorted(names) for sentence, names in sentences.items()}, ensure_ascii=False).encode()
    # No behaviour seals twice: answers that behave alike are sealed together.
    return base64.b64encode(_veiled(_mark(text) + text, _digest("seal", exercise, behaviour))).decode()


def unsealed(exercise: str, behaviour: Sequence[Traces], sealed: Iterable[str], names: Collection[str]) -> list[str]:
    """The sentences that this behaviour opens, for code with these names; none if it opens nothing."""
    key = _digest("seal", exercise, behaviour)
    for text in sealed:
        plain = _veiled(base64.b64decode(text), key)
        if plain[:_MARK] == _mark(plain[_MARK:]):
            return [sentence for sentence, needed in json.loads(plain[_MARK:]).items() if set(needed) <= set(names)]
    return []


def as_file(mistakes: Sealed) -> bytes:
    """The file of an exercise's mistakes."""
    rows = {name: sorted(mistakes[name]) for name in sorted(mistakes)}
    return (json.dumps({"version": _VERSION, "mistakes": rows}, indent=1) + "\n").encode()


def is_sealed(data: bytes) -> bool:
    """Whether a file is one of mistakes and says nothing else, in no other way."""
    try:
        rows = json.loads(data)["mistakes"]
        return bool(data == as_file(rows)) and all(_rows_hold(rows))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return False


def _rows_hold(rows: Sealed) -> Iterator[bool]:
    for name, sealed in rows.items():
        yield bool(_NAME.fullmatch(name))
        yield all(_SEALED.fullmatch(text) and len(text) % 4 == 0 for text in sealed)


def read_sealed(path: Path) -> Sealed:
    """The mistakes in a file; none of one that is damaged, or of another version: nobody is told anything then."""
    try:
        data = path.read_bytes()
    except OSError:
        return {}
    return json.loads(data)["mistakes"] if is_sealed(data) else {}


def _digest(use: str, exercise: str, behaviour: Sequence[Traces]) -> bytes:
    rows = [sorted((id, trace.verdict.value, trace.story) for id, trace in traces.items()) for traces in behaviour]
    return hashlib.sha256(repr((use, exercise, rows)).encode()).digest()


def _mark(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()[:_MARK]


def _veiled(data: bytes, key: bytes) -> bytes:
    """Data made unreadable by a key, or readable again."""
    veil = hashlib.shake_256(key).digest(len(data))
    return bytes(one ^ other for one, other in zip(data, veil, strict=True))
