"""A check that has a file of the student's does not unpickle: whoever wrote a pickle decides what is run."""

from __future__ import annotations

import sys
from collections.abc import Callable

_TOLD = (
    "a check reads no pickle while a file of the student's is in its folder: what is in it would run beside the check. "
    "Let the student's code read it, or use torch.load(path, weights_only=True), numpy.load or json"
)


def refuse_pickles(has_students_files: Callable[[], bool]) -> None:
    """From now on refuse to find a class or a function for a pickle while there is a file of the student's.

    Args:
        has_students_files: whether there is one.
    """

    def hook(event: str, arguments: object) -> None:
        del arguments
        if event == "pickle.find_class" and has_students_files():
            raise RuntimeError(_TOLD)

    sys.addaudithook(hook)
