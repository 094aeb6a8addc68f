r"""Takes nearly as long as allowed in each call, so that the exercise as a whole takes too long.

---
exercise: double
verdicts: {small: passed|timed_out, halves: passed|timed_out, random: passed|timed_out, dtype: passed|timed_out,
  halves_random: timed_out}
message: the exercise as a whole took longer than 6 seconds
"""

import time


def double(x):
    time.sleep(1.35)
    return 2 * x


def halve(x):
    time.sleep(1.35)
    return x / 2
