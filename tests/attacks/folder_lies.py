r"""Tells the check of files that lie elsewhere, by names that lead out of its folder.

---
exercise: notes
verdicts: {note: failed, names: failed|crashed}
"""

import gc
import os

from grader.worker import files

files.Files.take_files = lambda *asked: [{"../../../wall_marker": b"x", "/tmp/wall_marker": b"x"}, ["../.."]]
for own in gc.get_objects():
    if type(own) is dict and "take_files" in own:
        own["take_files"] = files.Files.take_files


def note(numbers, path):
    return 2


def notes(folder):
    return sorted(os.listdir(folder))
