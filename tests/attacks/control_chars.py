r"""Prints what moves cursors, clears screens and changes what is read.

---
exercise: double
shown_output: cleared
"""

print("\x1b[2J\x1b[H\x1b]0;title\x07cleared\r\x08\x08\x08 60 / 60\x1b[8m \u202e \u2028 \x9b31m \0")


def double(x):
    return 2 * x


def halve(x):
    return x / 2
