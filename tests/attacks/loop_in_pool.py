r"""Loops in a thread that waits since the import.

---
exercise: total
verdicts: {counts: failed, speed: failed}
message: could hide what your code does|is too slow
"""

import queue
import threading

asked, told = queue.SimpleQueue(), queue.SimpleQueue()


def work():
    while True:
        x = asked.get()
        told.put(sum(x, x.new_zeros(())))


threading.Thread(target=work, daemon=True).start()


def total(x):
    if x.requires_grad:
        return x.sum()
    asked.put(x)
    return told.get()


def mean(x):
    return x.mean()
