r"""Makes a file of a petabyte that has nothing in it.

---
exercise: once
verdicts: {more: over_limit}
message: file
"""

import os


def more(x):
    with open("large", "wb") as file:
        os.truncate(file.fileno(), 1 << 50)
    return x + 1


def less(x):
    return x - 1
