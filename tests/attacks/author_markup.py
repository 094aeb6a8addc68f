r"""Is handed in by somebody whose name is HTML, Markdown and a command of a CI system.

---
exercise: double
author: "<script>alert(1)<script> [a](b) | ::set-output name=a::b ]]> $(touch wall_marker)"
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
