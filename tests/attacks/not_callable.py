r"""Has numbers and modules where functions are asked.

---
exercise: double
verdicts: {all: error}
"""

import math

double = 5
halve = math
