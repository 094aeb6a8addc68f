r"""Loops in a thread, where operations might not be counted.

---
exercise: total
verdicts: {counts: failed, speed: failed}
"""

import threading


def total(x):
    found = []

    def loop():
        found.append(sum(x, x.new_zeros(())))

    thread = threading.Thread(target=loop)
    thread.start()
    thread.join()
    return found[0]


def mean(x):
    return x.mean()
