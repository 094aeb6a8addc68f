r"""Hands in its module under a name in capital letters, which is taken for what it is meant to be.

---
exercise: double
odd: {double.py: missing}
files: {DOUBLE.py: "def double(x):\n    return 2 * x\n\n\ndef halve(x):\n    return x / 2\n"}
"""
