r"""Has numbers and modules where functions are expected.

---
exercise: double
verdicts: {all: error|crashed}
"""

import math

double = 5
halve = math
