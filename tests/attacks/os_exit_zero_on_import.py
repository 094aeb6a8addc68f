r"""Ends the process with status 0 while it is imported.

---
exercise: once
verdicts: {all: crashed}
message: your once\.py ended Python before it returned \(exit status 0\)
"""

import os

os._exit(0)
