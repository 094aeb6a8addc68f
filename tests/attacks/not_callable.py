r"""Has numbers and modules where functions are expected.

---
exercise: double
verdicts: {all: error|crashed}
message: in your file is not a function
"""

import math

double = 5
halve = math
