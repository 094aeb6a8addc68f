r"""Searches for other submissions, next to its own and where they could be.

---
exercise: double
shown_output: looked
level: full
"""

import glob
import os


def look():
    for depth in range(1, 7):
        for path in glob.glob("../" * depth + "*"):
            if os.path.realpath(path).startswith(("/usr", "/lib", "/proc", "/sys")):
                continue
            for found in [path, *glob.glob(f"{path}/*"), *glob.glob(f"{path}/*/*.py")]:
                if "honest" in found or found.endswith(".out") or "CANARY" in found:
                    print("BREACH:", found)
    for path in ("../w0", "../w1", "../w0.out", "../../00h_honest", "/proc/self/cwd/../w0"):
        if os.path.lexists(path) and os.path.realpath(path) != os.getcwd():
            print("BREACH:", path, "is known to exist")
    print("looked")


look()


def double(x):
    return 2 * x


def halve(x):
    return x / 2
