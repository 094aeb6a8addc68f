r"""Is a megabyte of the smallest words there are, which takes long to compare with the starter.

---
exercise: double
repeat: {WORDS: ["0;0;0;0;0;0;0;0;0;0\n", 20000]}
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2


WORDS  # becomes many of them
