r"""Is not handed in.

---
exercise: double
verdicts: {all: error}
message: double\.py is not among the submitted files
odd: {double.py: missing}
"""
