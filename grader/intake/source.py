"""Whether a file that was handed in is Python at all: seen at once, without a worker. Nothing in it is run."""

from __future__ import annotations

import os
import warnings
from functools import lru_cache
from pathlib import Path

from grader.model import Exercise, Submission


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
