"""Keys, one at a time and without Enter, where somebody types."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_LOOK_S = 0.1


@contextmanager
def keys(tell: Callable[[str], None]) -> Iterator[bool]:
    """Meanwhile pass each key on, in a thread of its own; gives whether there is a keyboard.

    Args:
        tell: receives each key.
    """
    if not sys.stdin.isatty():
        yield False
        return
    stop = threading.Event()
    read = _windows if sys.platform == "win32" else _posix
    with _unbuffered():
        thread = threading.Thread(target=read, args=(tell, stop), name="keys", daemon=True)
        thread.start()
        try:
            yield True
        finally:
            stop.set()
            thread.join(1.0)


def _posix(tell: Callable[[str], None], stop: threading.Event) -> None:
    import select

    fd = sys.stdin.fileno()
    while not stop.is_set():
        if select.select([fd], [], [], _LOOK_S)[0]:
            typed = os.read(fd, 64).decode("utf-8", "ignore")
            if not typed:  # the terminal is gone
                return
            if not typed.startswith("\x1b"):  # an arrow is several characters, and no letter of it was typed
                for key in typed:
                    tell(key)


def _windows(tell: Callable[[str], None], stop: threading.Event) -> None:
    keyboard: Any = __import__("msvcrt")
    while not stop.wait(_LOOK_S):
        while keyboard.kbhit():
            tell(keyboard.getwch())


@contextmanager
def _unbuffered() -> Iterator[None]:
    """The terminal hands keys over as they are typed, and shows none; Ctrl-C and Ctrl-Z work as before.

    After Ctrl-Z, a shell sets the terminal for itself, so this is done again when the process goes on.
    """
    if sys.platform == "win32":
        yield
        return
    import termios
    import tty

    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    handler = signal.signal(signal.SIGCONT, lambda *_: tty.setcbreak(fd))
    tty.setcbreak(fd)
    try:
        yield
    finally:
        signal.signal(signal.SIGCONT, handler)
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
