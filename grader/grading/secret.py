"""The secret of a run over other people's work. All inputs come from it and from the author: see `Setup.seed_of`."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from grader.model.errors import CourseError, GraderError
from grader.model.files import failing_as, write_whole

VARIABLE = "GRADE_SECRET"
_BYTES = 32
_MOST_BYTES = 4096


def new_secret() -> str:
    """Return a new secret, as a file or an environment variable holds it.

    It is a line of 64 hexadecimal digits.
    """
    return f"{secrets.token_hex(_BYTES)}\n"


def _parse_secret(text: str) -> bytes | None:
    """Read a secret from its hexadecimal digits; return None if the text is anything else."""
    return bytes.fromhex(text) if re.fullmatch(rf"\s*[0-9a-fA-F]{{{2 * _BYTES}}}\s*", text) else None


def _text_of(path: Path) -> str:
    with path.open("rb") as file:  # a longer file is not a secret
        return file.read(_MOST_BYTES).decode("ascii", "replace")


def load_or_make_secret(path: Path) -> bytes:
    """Read the secret in a file; if the file does not exist, write a new secret there.

    The next run then has the same secret.

    Args:
        path: the path of the file.

    Raises:
        GraderError: the file does not hold a secret.
    """
    if not path.exists():
        # Whole or not at all: without it, nothing that was graded could be graded in the same way again.
        write_whole(path, new_secret(), durable=True)
        path.chmod(0o600)
    if (secret := _parse_secret(_text_of(path))) is None:
        raise GraderError(f"{path} does not hold the batch's secret; restore it, or grade into a new folder")
    return secret


def read_secret(file: Path | None) -> bytes:
    """Read the secret of a file, or of an environment variable; else make a new one.

    A new secret is not saved, so that nobody knows it.

    Args:
        file: the path of the file; None to read the environment variable `VARIABLE`.

    Raises:
        CourseError: the file cannot be read, or the file or the variable does not hold a secret.
    """
    if file is None and VARIABLE not in os.environ:
        return secrets.token_bytes(_BYTES)
    with failing_as(f"--secret-file: {file} cannot be read"):
        text = os.environ[VARIABLE] if file is None else _text_of(file)
    if (secret := _parse_secret(text)) is None:
        where = file or VARIABLE
        raise CourseError(f"{where} does not hold a secret: {2 * _BYTES} hexadecimal digits, as `grade package` writes")
    return secret
