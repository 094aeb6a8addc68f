r"""Stops every clock that Python has, then loops.

---
exercise: once
verdicts: {more: timed_out}
message: your `more` did not finish
"""

import resource
import time

for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time", "clock_gettime", "time_ns"):
    setattr(time, name, lambda *args: 0)
resource.getrusage = lambda *args: None


def more(x):
    while True:
        pass


def less(x):
    return x - 1
