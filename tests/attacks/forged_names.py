r"""Says when it is loaded that it has a hundred thousand names, of odd kinds.

---
exercise: double
verdicts: {all: error|crashed|failed}
message: sent the grader a value that it cannot read
"""

import sys

frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send


def lie(self, number, tree, data=(), patience=None):
    names = []
    for place in range(100_000):
        names += [f"doubl{place}", ["callable", None, 5][place % 3]]
    rows = [[place, ["dict", *names] if row[0] == "dict" else row] for place, row in tree.get("rows", [])]
    return send(self, number, {**tree, "rows": rows}, data, patience)


frames.Channel.send = lie
