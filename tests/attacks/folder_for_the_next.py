r"""Leaves files for the next check, and looks for files that were not meant for it.

---
exercise: notes
verdicts: {note: failed}
message: there is more
shown_output: left it
"""

import contextlib
import glob
import os

LEFT = []


def note(numbers, path):
    os.makedirs(path.parent, exist_ok=True)
    for place in (path.parent.parent, path.parent.parent.parent, "."):
        with contextlib.suppress(OSError), open(os.path.join(place, "left.txt"), "w") as file:
            file.write("wall_marker")
    path.write_text("".join(f"{number}\n" for number in numbers))
    print("left it")
    with contextlib.suppress(OSError), open("words.txt", "w") as file:
        print("BREACH: the data can be changed" if os.getuid() else "", file=file)
    return 2


def notes(folder):
    for path in glob.glob("**/*", recursive=True):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if os.path.isfile(path) and "CANARY" in open(path).read():
                print("BREACH:", path)
    return sorted(os.listdir(folder))
