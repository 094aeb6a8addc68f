r"""Leaves a pipe that nobody writes to and a file with a hole where a check's folder is, so that reading never ends.

---
exercise: notes
verdicts: {note: failed|over_limit, names: failed|over_limit|passed}
"""

import contextlib
import os


def note(numbers, path):
    os.makedirs(path.parent, exist_ok=True)
    with contextlib.suppress(OSError):  # refused behind the full wall
        os.mkfifo(path)
    return 2


def notes(folder):
    names = sorted(os.listdir(folder))
    for number in range(8):
        with open(folder / f"hole_{number}", "wb") as file:
            file.truncate(4 << 20)
    return names
