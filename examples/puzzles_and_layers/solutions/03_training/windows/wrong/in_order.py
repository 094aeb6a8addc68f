"""You take the pieces in order, the same at each call; draw where they begin.

caught by: anew
"""

import torch


def batch(data, count, context):
    place = (torch.arange(count) % (len(data) - context))[:, None] + torch.arange(context)
    return data[place], data[place + 1]
