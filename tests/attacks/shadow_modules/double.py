r"""Hands in files with the names of modules that everybody imports; nobody gets those instead.

---
exercise: double
shown_output: real ones
"""

import json
import math
import random

import numpy
import torch

print("real ones:", json.dumps([math.pi, torch.__name__, numpy.__name__, random.__name__]))


def double(x):
    return 2 * x


def halve(x):
    return x / 2
