r"""Has the line ends of old Macs.

---
exercise: double
bytes: cr
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
