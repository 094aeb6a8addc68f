r"""Is handed in by somebody whose name holds a line end and what looks like another author's row.

---
exercise: double
author: "zz\nFORGED     10      10      10      10      10      10         60 \u2215 60  forged\e[2J"
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
