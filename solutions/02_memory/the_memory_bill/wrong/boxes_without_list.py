"""You count the float objects, and forget the list that points to them.

caught by: boxed_example
keeps: tensor_bytes, held_bytes, compact
"""

import sys


def boxed_bytes(xs):
    return sum(sys.getsizeof(x) for x in xs)
