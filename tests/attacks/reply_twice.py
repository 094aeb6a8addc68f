r"""Answers twice in one breath: what comes after it must not count as the answer to the next call.

---
exercise: once
verdicts: {more: passed|crashed, less: passed|crashed}
"""

import sys

frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send


def twice(self, number, tree, data=(), patience=None):
    frames.Channel.send = send
    send(self, number, tree, data, patience)
    send(self, number, tree, data, patience)


def more(x):
    frames.Channel.send = twice
    return x + 1


def less(x):
    return x - 1
