r"""Takes memory in eight child processes, each of them less than the exercise allows.

---
exercise: once
verdicts: {more: over_limit|timed_out|passed}
level: full
"""

import os
import time


def more(x):
    children = []
    for _ in range(8):
        child = os.fork()
        if child == 0:
            kept = bytearray(b"1") * (128 << 20)
            time.sleep(0.4)
            os._exit(0 if kept else 1)
        children.append(child)
    if any(os.waitpid(child, 0)[1] for child in children):
        raise MemoryError
    return x + 1


def less(x):
    return x - 1
