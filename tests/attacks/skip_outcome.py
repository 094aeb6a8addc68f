r"""Raises what test runners take for a skipped test: a skipped check earns nothing.

---
exercise: double
verdicts: {all: crashed}
"""

import unittest

import pytest


def double(x):
    pytest.skip("this one does not count")


def halve(x):
    if x.numel() == 3:
        pytest.exit("that is all", returncode=0)
    raise unittest.SkipTest("this one does not count")
