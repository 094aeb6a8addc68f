r"""Answers a probe with names that lead out of its folder, and with text that it never wrote.

---
exercise: notes
verdicts: {note: failed|crashed, names: failed|crashed}
never: TOLD_BY_A_PROBE
"""

import sys

frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send


def lie(self, number, tree, data=(), patience=None):
    rows = [
        [place, ["list", "../../../wall_marker", "/tmp/wall_marker TOLD_BY_A_PROBE"] if row[0] == "list" else row]
        for place, row in tree.get("rows", [])
    ]
    return send(self, number, {**tree, "rows": rows}, data, patience)


frames.Channel.send = lie


def note(numbers, path):
    return 2


def notes(folder):
    return ["../.."]
