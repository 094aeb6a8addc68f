"""You count eight bytes for each float; that is the number alone, and Python keeps a type and a counter beside it.

caught by: boxed_example
keeps: tensor_bytes, held_bytes, compact
"""

import sys


def boxed_bytes(xs):
    return sys.getsizeof([]) + 16 * len(xs)
