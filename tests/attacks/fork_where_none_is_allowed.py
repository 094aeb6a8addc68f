r"""Forks in an exercise that is not about processes.

---
exercise: double
verdicts: {small: over_limit, random: over_limit, dtype: over_limit}
level: reduced
message: more processes or threads than the exercise allows
"""

import os


def double(x):
    if os.fork() == 0:
        os._exit(0)
    return 2 * x


def halve(x):
    return x / 2
