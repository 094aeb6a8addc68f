"""Whether a file is the starter as it was given out: by the digest of its code, which stands in exercise.yaml."""

from __future__ import annotations

import hashlib
import io
import re
import tokenize
from pathlib import Path

from grader.course.layout import EXERCISE_FILE
from grader.model import Exercise

_DIGESTS: dict[bytes, str] = {}
"""Of texts that were seen before: in a class most files are the same starters."""
_MOST_DIGESTS = 10_000


def write_digest(exercise: Exercise) -> bool:
    """Bring the digest of the starter in exercise.yaml up to date; tell whether that changed it."""
    path = exercise.folder / EXERCISE_FILE
    text = path.read_text(encoding="utf-8")
    line = f"starter: {starter_digest(exercise.starter.read_bytes())}"
    if re.search(r"^starter:.*$", text, re.MULTILINE):
        new = re.sub(r"^starter:.*$", line, text, flags=re.MULTILINE)
    else:
        new = f"{text.rstrip()}\n{line}\n"
    path.write_text(new, encoding="utf-8")
    return new != text


def is_starter(exercise: Exercise, text: bytes) -> bool:
    """Whether a text is an exercise's starter, as it was given out or as it lies in the course."""
    wanted = exercise.starter_digest
    if not wanted and exercise.starter.is_file():
        wanted = starter_digest(exercise.starter.read_bytes())
    return starter_digest(text) == wanted


def is_untouched(exercise: Exercise, text: bytes, path: Path) -> bool:
    """Whether a file at that path is the starter as it was given out."""
    # In a course's own folder the file is the starter: without a digest, it cannot be known whether it was touched.
    known = exercise.starter_digest or path != exercise.starter
    return bool(known) and is_starter(exercise, text)


def starter_digest(text: bytes) -> str:
    """Digest of a starter's code: blank lines, comments, the module's docstring and line ends do not count.

    So a starter whose wording was corrected is still untouched for a student who has the older one. The text may be a
    hostile student's: it is cut into tokens and not parsed.
    """
    key = hashlib.sha256(text).digest()
    if key not in _DIGESTS:
        if len(_DIGESTS) >= _MOST_DIGESTS:
            _DIGESTS.clear()
        _DIGESTS[key] = hashlib.sha256(code_of(text).encode()).hexdigest()[:16]
    return _DIGESTS[key]


def code_of(text: bytes) -> str:
    """What of a file its digest is made of; all of it if it has no tokens."""
    plain = text.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    try:
        lines = _code_lines(plain)
    except (SyntaxError, ValueError, tokenize.TokenError, MemoryError, RecursionError):
        lines = plain.split("\n")
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _code_lines(source: str) -> list[str]:
    lines = source.split("\n")
    first: list[tokenize.TokenInfo] = []  # the first statement
    complete = False
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
        elif token.type == tokenize.NEWLINE:
            complete = True
        elif not complete and token.type != tokenize.NL:
            first.append(token)
    # The docstring is the task. Its wording may be corrected without making a student's file a submission.
    if first and all(token.type == tokenize.STRING for token in first):
        del lines[first[0].start[0] - 1 : first[-1].end[0]]
    return lines
