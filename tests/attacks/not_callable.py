r"""Has numbers and modules where functions are asked.

---
exercise: double
verdicts: {all: failed|skipped|crashed}
"""

import math

double = 5
halve = math
