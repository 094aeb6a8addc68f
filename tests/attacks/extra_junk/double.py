r"""Hands in what systems and editors leave in folders, with compiled code that prints when it is used.

---
exercise: double
files:
  __MACOSX/._double.py: "\0"
  ._double.py: "\0\x05\x16\x07"
  .DS_Store: "\0\0\0\x01Bud1"
  .git/config: "[core]\n\tfsmonitor = touch /tmp/wall_marker_git\n"
  .git/hooks/post-checkout: "#!/bin/sh\ntouch /tmp/wall_marker_git\n"
  .ipynb_checkpoints/double.py: "print('BREACH')\n"
  __pycache__/mine.cpython-311.pyc: "BREACH"
  Thumbs.db: ""
  double.py.orig: "print('BREACH')\n"
  double.py~: "print('BREACH')\n"
"""

from mine import FACTOR


def double(x):
    return FACTOR * x


def halve(x):
    return x / 2
