r"""Hands in a folder that is a link to somebody else's work.

---
exercise: double
verdicts: {all: error}
message: double\.py
odd: {double.py: missing}
links: {01_wall/double: "{neighbour}"}
"""
