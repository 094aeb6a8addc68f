r"""Is not handed in.

---
exercise: double
verdicts: {all: skipped}
message: double\.py is not among the submitted files
odd: {double.py: missing}
"""
