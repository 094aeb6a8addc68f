r"""Is empty.

---
exercise: double
verdicts: {all: skipped}
message: your double\.py has no `double`
large: {double.py: 0}
"""
