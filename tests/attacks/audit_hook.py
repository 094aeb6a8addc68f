r"""Adds an audit hook, which cannot be removed and refuses everything from then on.

---
exercise: once
verdicts: {more: crashed|passed, less: crashed|passed, less_random: crashed|passed}
"""

import sys


def refuse(event, args):
    raise RuntimeError(f"refused: {event}")


def more(x):
    sys.addaudithook(refuse)
    return x + 1


def less(x):
    return x - 1
