r"""Takes more threads, all processors and a better priority; it gets no more for it.

---
exercise: total
verdicts: {counts: failed}
message: "`os.sched_setaffinity` could hide what your code does"
"""

import os

import torch

for call in (
    lambda: torch.set_num_threads(8),
    lambda: torch.set_num_interop_threads(8),
    lambda: os.sched_setaffinity(0, range(os.cpu_count())),
    lambda: os.nice(-10),
    lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)),
):
    try:
        call()
    except (OSError, RuntimeError):
        continue


def total(x):
    return x.sum()


def mean(x):
    return x.mean()
