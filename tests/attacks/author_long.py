r"""Is handed in by somebody whose name is as long as a name can be.

---
exercise: double
author: zz_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_name_long_n
"""


def double(x):
    return 2 * x


def halve(x):
    return x / 2
