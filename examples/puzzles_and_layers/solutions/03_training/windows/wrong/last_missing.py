"""You leave out the last piece: there are len(data) - context of them.

caught by: everywhere
"""

import torch


def batch(data, count, context):
    place = torch.randint(len(data) - context - 1, (count, 1)) + torch.arange(context)
    return data[place], data[place + 1]
