"""`sys.getsizeof` of a list counts its pointers; the float objects they point to lie elsewhere, and cost more.

caught by: boxed_example
keeps: tensor_bytes, held_bytes, compact
"""

import sys


def boxed_bytes(xs):
    return sys.getsizeof(xs)
