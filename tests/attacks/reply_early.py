r"""Answers from a thread and goes on working, so that the answer comes a second time.

---
exercise: once
verdicts: {more: passed|crashed, less: passed|crashed}
"""

import sys
import threading
import time

frames = sys.modules["grader.wire.frames"]
send = frames.Channel.send


def twice(self, number, tree, data=(), patience=None):
    send(self, number, tree, data, patience)
    thread = threading.Thread(target=send, args=(self, number, tree, data, patience))
    thread.start()
    time.sleep(0.02)


def more(x):
    frames.Channel.send = twice
    return x + 1


def less(x):
    return x - 1
