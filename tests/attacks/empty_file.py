r"""Is empty.

---
exercise: double
verdicts: {all: error}
message: your double\.py has no `double`
large: {double.py: 0}
"""
