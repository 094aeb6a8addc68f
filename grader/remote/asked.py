"""Which arguments a check looks at after a call: it says so, by `changed`, `in_place` or `unchanged`.

What student code changes in an argument must not reach what a check expects: else `x.zero_()` would make any multiple
of x right. Where one was changed that the check does not ask for, it is run once more, and student code gets copies.
"""

from __future__ import annotations

_asked: list[object] = []


def begin() -> None:
    """A check is run: nothing is asked for yet."""
    _asked.clear()


def ask_for(*arguments: object) -> None:
    """The check reads these as a call left them."""
    _asked.extend(arguments)


def asked_for() -> list[object]:
    """What the check that runs has asked for."""
    return list(_asked)
