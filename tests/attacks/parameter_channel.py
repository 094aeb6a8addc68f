r"""Tells something by the parameters, defaults and text of the function that it says it has.

---
exercise: double
verdicts: {random: crashed, dtype: crashed}
never: TOLD_BY_PARAMETER
"""

import inspect

TALE = "TOLD_BY" + "_PARAMETER"


def double(x):
    if x.dim() == 1 and x.is_floating_point():
        return 2 * x
    parameter = inspect.Parameter(TALE, inspect.Parameter.KEYWORD_ONLY)
    double.__signature__ = inspect.Signature([parameter])
    double.__name__ = double.__qualname__ = double.__doc__ = TALE
    raise TypeError(TALE)


def halve(x):
    return x / 2
