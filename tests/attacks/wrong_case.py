r"""Hands in its module under a name in capital letters.

---
exercise: double
verdicts: {all: skipped}
message: double\.py is not among the submitted files
odd: {double.py: missing}
files: {DOUBLE.py: "def double(x):\n    return 2 * x\n"}
"""
