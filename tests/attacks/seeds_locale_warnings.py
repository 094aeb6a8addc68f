r"""Leaves other seeds, warnings, rounding and collection behind.

---
exercise: double
"""

import decimal
import faulthandler
import gc
import locale
import random
import sys
import warnings

import numpy as np
import torch


def double(x):
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    warnings.simplefilter("error")
    decimal.getcontext().prec = 1
    gc.disable()
    gc.set_threshold(1)
    faulthandler.enable()
    locale.setlocale(locale.LC_ALL, "C")
    sys.setswitchinterval(0.5)
    sys.setrecursionlimit(200)
    np.seterr(all="raise")
    return 2 * x


def halve(x):
    return x / 2
