"""What is seen of a file that was handed in without a worker: whether it is Python, and where. Nothing in it is run."""

from __future__ import annotations

import os
import re
import warnings
from functools import lru_cache
from pathlib import Path

from grader.model import Exercise, Place, Submission

_NAMED = re.compile(r"(?:async +)?(?:def|class) +(\w+)")


def not_python(exercise: Exercise, submission: Submission) -> str:
    """Why the file of an exercise cannot be compiled, in the words of a worker that would load it; or ""."""
    source, path = submission.files.get(exercise.id, {}).get(exercise.file_name), submission.paths.get(exercise.id)
    error = _error_of(source) if source is not None else None
    if error is None or path is None:
        return ""
    lines = [
        f"your {exercise.file_name} does not load: {type(error).__name__}: {error.msg}",
        f"    {Path(os.path.relpath(path)).as_posix()}, line {error.lineno or 1}",
    ]
    if error.text and error.text.strip():
        lines.append(f"        {error.text.strip()}")
    return "\n".join(lines)


def place_of(exercise: Exercise, submission: Submission) -> Place | None:
    """Where a submission has the module of an exercise."""
    path, source = submission.paths.get(exercise.id), submission.files.get(exercise.id, {}).get(exercise.file_name)
    if path is None or source is None or submission.root is None:
        return None
    # Looked for and not parsed: a file that is no Python has a place as well.
    lines = source.decode("utf-8", "replace").splitlines()
    found = ((number, _NAMED.match(line)) for number, line in enumerate(lines, 1))
    names = {match[1]: number for number, match in found if match}
    return Place(Path(os.path.relpath(path, submission.root)).as_posix(), len(lines), names)


@lru_cache(maxsize=64)
def _error_of(source: bytes) -> SyntaxError | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a worker tells them, if anybody
        try:
            compile(source, "submission", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, MemoryError, RecursionError, OverflowError):
            return None  # what is odd in another way is a worker's to find out
    return None
