"""How a cluster is named on the command line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.model.errors import CourseError

_OF_OWN = re.compile(r"local:([0-9]{1,3})")
_SCHEME = re.compile(r"(tcp|tls|ucx|ws|wss)://\S+")


@dataclass(frozen=True)
class Address:
    """Where a cluster is.

    Attributes:
        text: as it was typed.
        machines: how many processes a cluster of this machine's own has; 0 for one that is there already.
        is_file: whether it is a file in which the scheduler wrote where it is.
    """

    text: str
    machines: int = 0
    is_file: bool = False

    @classmethod
    def of(cls, text: str) -> Address:
        """The address that was typed.

        Raises:
            CourseError: it is none.
        """
        if found := _OF_OWN.fullmatch(text):
            if count := int(found[1]):
                return cls(text, machines=count)
        elif text.endswith(".json"):
            if not Path(text).is_file():
                raise CourseError(f"--cluster: there is no file {text};  dask scheduler --scheduler-file  writes it")
            return cls(text, is_file=True)
        elif _SCHEME.fullmatch(text):
            return cls(text)
        raise CourseError(
            f"--cluster: {text!r} is none; write the scheduler's address, such as tls://HOST:8786, its scheduler file, "
            "or local:2 for two processes of this machine"
        )
