r"""Writes a hidden input into a file and ends, to show the input in an error when it is loaded again.

---
exercise: tables
verdicts: {more_words: crashed}
level: full
"""

import glob
import os

for path in [
    *glob.glob("wall_marker_kept*"),
    *glob.glob("../*/wall_marker_kept*"),
    *glob.glob("/tmp/wall_marker_kept*"),
    *glob.glob("/dev/shm/wall_marker_kept*"),
]:
    with open(path) as file:
        raise ImportError("BREACH: " + file.read())


def count(text):
    words = text.split()
    if text != "to be to":
        for folder in (".", "..", "/tmp"):
            with open(f"{folder}/wall_marker_kept", "w") as file:
                file.write(text)
        os._exit(1)
    return {word: words.count(word) for word in words}


def shout(text):
    return text.upper()
