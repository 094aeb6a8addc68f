"""The fixture `capsys` of checks: what student code prints."""

from __future__ import annotations

import contextlib
import io
from typing import NamedTuple


class Heard(NamedTuple):
    """What was printed on the two streams."""

    out: str
    err: str


class Listener(contextlib.ExitStack):
    """Listens to what is printed, from where it is entered."""

    def __enter__(self) -> Listener:
        self._out, self._err = io.StringIO(), io.StringIO()
        self.enter_context(contextlib.redirect_stdout(self._out))
        self.enter_context(contextlib.redirect_stderr(self._err))
        return self

    def readouterr(self) -> Heard:
        """What was printed since this was asked last."""
        heard = Heard(self._out.getvalue(), self._err.getvalue())
        for stream in (self._out, self._err):
            stream.seek(0)
            stream.truncate()
        return heard
