r"""Has files beside it whose first lines name codecs that are none of text, or that nobody has.

---
exercise: double
files:
  one.py: "# coding: rot13\nk = 1\n"
  two.py: "# -*- coding: utf-7 -*-\nX = '+AGE-'\n"
  three.py: "# vim: set fileencoding=zip :\nX = 1\n"
  four.py: "# coding: no-such-codec\nX = 1\n"
  five.py: "# coding: unicode_escape\n\\x58 = 1\n"
"""

for name in ("one", "two", "three", "four", "five"):
    try:
        __import__(name)
    except Exception:
        pass


def double(x):
    return 2 * x


def halve(x):
    return x / 2
