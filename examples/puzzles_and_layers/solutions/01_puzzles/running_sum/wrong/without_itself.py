"""You leave out the number at the place itself: <= and not < is asked.

caught by: small
"""

import torch


def running_sum(x):
    place = torch.arange(len(x))
    return torch.where(place < place[:, None], x, 0).sum(1)
