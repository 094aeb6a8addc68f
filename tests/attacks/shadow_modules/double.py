r"""Hands in files with the names of modules that everybody else imports; nobody gets those instead.

---
exercise: double
shown_output: real ones
"""

import sys

import numpy
import torch

print("real ones:", torch.__name__, numpy.__name__, sys.modules["json"].dumps([sys.modules["random"].__name__]))


def double(x):
    return 2 * x


def halve(x):
    return x / 2
