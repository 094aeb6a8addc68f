r"""Hands in files whose names hold line ends, escapes and quotes.

---
exercise: double
files:
  "a\nFORGED\e[2J.py": "X = 1\n"
  "b'\"; $(touch wall_marker).py": "X = 1\n"
  "\u202eyp.c.py": "X = 1\n"
  " .py": "X = 1\n"
  "..py": "X = 1\n"
  "-rf.py": "X = 1\n"
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
