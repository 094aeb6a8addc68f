r"""Has the line ends of Windows.

---
exercise: double
bytes: crlf
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
