r"""Says when it is loaded that it has a hundred thousand names, of odd kinds.

---
exercise: double
verdicts: {all: skipped|crashed|failed}
"""

import sys

serve = sys.modules["grader.worker.serve"]


def names(*_):
    return {f"doubl{number}": ["callable", None, 5][number % 3] for number in range(100_000)}


serve.Submission._load_probe = serve.Submission._call = serve.Submission._load = names
frame = sys._getframe()
while frame is not None and frame.f_code.co_name != "answer":
    frame = frame.f_back
if frame is not None:
    own = type(frame.f_locals["self"])
    own._done = names
send = sys.modules["grader.wire.frames"].Channel.send


def lie(self, number, tree, data=(), patience=None):
    if isinstance(tree.get("result"), list):
        tree = {**tree, "result": names()}
    return send(self, number, tree, data, patience)


sys.modules["grader.wire.frames"].Channel.send = lie
