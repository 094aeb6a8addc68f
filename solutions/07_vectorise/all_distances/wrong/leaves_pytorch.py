"""You leave PyTorch, for NumPy or for plain numbers: all of them are copied out of the tensor and back.

caught by: no_loop_at_scale[pairwise]
keeps: pairwise_lean
"""

import math


def pairwise(a, b):
    stations, houses = a.tolist(), b.tolist()
    rows = [[math.dist(one, other) for other in houses] for one in stations]
    return a.new_tensor(rows).reshape(len(a), len(b))
