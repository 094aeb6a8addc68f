"""The end of a process that was forked."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable
from typing import NoReturn


def run_and_exit(action: Callable[[], None]) -> NoReturn:
    """Do something in a process that was forked, and end with it; what it raises goes to standard error."""
    try:
        action()
    except BaseException:
        end_with_traceback()
    finally:  # it must not come back into the code of the process that it was forked from
        os._exit(0)


def end_with_traceback() -> NoReturn:
    """End a process that was forked by what is being handled."""
    try:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)
