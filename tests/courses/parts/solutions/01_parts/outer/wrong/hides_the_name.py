"""You put the name of a function together; write it out, so that one can see which it is.

caught by: not_its_own
"""

import torch


def outer(a, b, f=lambda a, b: getattr(torch, "out" + "er")(a, b)):
    return f(a, b)
