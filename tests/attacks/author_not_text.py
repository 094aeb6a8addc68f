r"""Is handed in by somebody whose name is not text.

---
exercise: double
author: "zz\udcff"
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
