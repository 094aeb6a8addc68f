"""You set one element after another; compare all rows with all columns at once.

caught by: no_loop
"""

import torch


def eye(n):
    found = torch.zeros(n, n, dtype=torch.int64)
    for place in range(n):
        found[place, place] = 1
    return found
