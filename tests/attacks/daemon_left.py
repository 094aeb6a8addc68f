r"""Leaves processes in sessions of their own, which write into the output of the next students.

---
exercise: once
level: full
"""

import glob
import os
import signal
import time


def haunt():
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            continue
    for _ in range(200):
        for path in [*glob.glob("../*.out"), *glob.glob("../*/*.py"), "/proc/1/fd/1"]:
            try:
                with open(path, "a") as file:
                    file.write("BREACH: a daemon was here\n")
            except OSError:
                continue
        try:
            os.write(1, b".")
        except OSError:
            pass
        time.sleep(0.1)


def leave():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            try:
                haunt()
            finally:
                os._exit(0)
        os._exit(0)
    os.wait()


leave()
leave()


def more(x):
    return x + 1


def less(x):
    return x - 1
