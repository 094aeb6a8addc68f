r"""Is handed in by somebody whose name a spreadsheet takes for a formula.

---
exercise: double
author: "=HYPERLINK(\"http:evil\",\"A\")"
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
