r"""Writes what every interpreter reads at its start into the folders where it looks.

---
exercise: double
shown_output: wrote
level: full
"""

import os
import site
import sys

NAMES = ("wall_marker.pth", "wall_marker_sitecustomize.py")


def write():
    folders = [*sys.path, *site.getsitepackages(), site.getusersitepackages(), os.path.dirname(os.__file__)]
    folders += [os.path.dirname(sys.executable), sys.prefix, *sys.modules["grader"].__path__]
    for folder in dict.fromkeys(folders):
        if os.path.realpath(folder) == os.getcwd():
            continue
        for name in NAMES:
            try:
                with open(os.path.join(folder, name), "w") as file:
                    file.write("# nothing\n")
                print("BREACH:", folder, name)
            except OSError:
                continue
        for call in (os.chmod, os.chown, os.utime):
            try:
                call(folder, *((0o755,) if call is os.chmod else (0, 0) if call is os.chown else ()))
                print("BREACH:", call.__name__, folder)
            except OSError:
                continue
    print("wrote")


write()


def double(x):
    return 2 * x


def halve(x):
    return x / 2
