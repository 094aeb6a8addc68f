r"""Starts thousands of threads.

---
exercise: once
verdicts: {more: over_limit}
message: more processes or threads than the exercise allows
"""

import threading
import time


def more(x):
    for _ in range(3000):
        threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
    return x + 1


def less(x):
    return x - 1
