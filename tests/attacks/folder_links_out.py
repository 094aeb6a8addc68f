r"""Puts links to other files and folders where a check's folder is, in the hope that they are read or written through.

---
exercise: notes
verdicts: {note: failed|crashed, names: passed}
"""

import os


def note(numbers, path):
    os.makedirs(path.parent, exist_ok=True)
    (path.parent.parent / "up").symlink_to("/etc")
    path.symlink_to("/etc/passwd")
    return 2


def notes(folder):
    names = sorted(os.listdir(folder))
    for name in names:
        if os.path.isfile(folder / name):
            os.unlink(folder / name)
            os.symlink("/etc/passwd", folder / name)
    (folder / "out").symlink_to("../../../..")
    return names
