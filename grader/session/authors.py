"""What the author of a check is told who asks for what there is none of here."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from grader.wire.handles import Remote

_NO_CLASS = "`type(...)` of what lives in another process is no class: ask  isinstance(x, student.Name)"
_GIVEN = ("student", "reference", "rng", "files", "tmp_path", "accelerator", "probe", "capsys")


@dataclass(frozen=True)
class Comparison:
    """The two sides of a plain `assert a == b` that does not hold."""

    op: str
    left: object
    right: object


def asks_for_nothing(error: BaseException | None, compared: Comparison | None) -> str | None:
    """What a check asks for that is not to be had: a fixture, a class by `type`; None if it asks for none.

    Args:
        error: what ended the check.
        compared: the sides of its plain assert.
    """
    if isinstance(error, pytest.FixtureLookupError):
        return (
            f"there is no fixture `{error.argname}`: a check is given {', '.join(_GIVEN)}, those of its own file, and "
            "of pytest's what needs no capturing; what must be seen beside student code, such as its log, a function "
            "of the probe file sees"
        )
    sides = () if compared is None else (compared.left, compared.right)
    if any(isinstance(side, type) and issubclass(side, Remote) for side in sides):
        return _NO_CLASS
    return None
