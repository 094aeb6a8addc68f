r"""Answers the next calls before they are made, with the answer to the last one.

---
exercise: once
verdicts: {more: passed|crashed, less: failed|crashed, less_random: passed|failed|crashed}
"""

import sys

frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send


def ahead(self, number, tree, data=(), patience=None):
    frames.Channel.send = send
    for later in range(number, number + 4):
        send(self, later, tree, data, patience)


def more(x):
    frames.Channel.send = ahead
    return x + 1


def less(x):
    return x - 1
