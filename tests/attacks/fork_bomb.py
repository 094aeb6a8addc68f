r"""Forks without end; the children leave their session and fork again.

---
exercise: once
verdicts: {more: over_limit}
message: more processes or threads than the exercise allows
level: full
"""

import os
import time


def more(x):
    for _ in range(100):
        if os.fork() == 0:
            os.setsid()
            try:
                os.fork()
                time.sleep(20)
            finally:
                os._exit(0)
    return x + 1


def less(x):
    return x - 1
