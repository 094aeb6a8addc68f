r"""Hands in a link to the hidden checks under an innocent name, imports it and prints it.

---
exercise: double
verdicts: {all: error}
message: No module named 'innocent'
links: {innocent.py: "{course}/solutions/01_wall/double/check_double.py"}
"""

import inspect

import innocent

print(inspect.getsource(innocent))
