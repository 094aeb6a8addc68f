"""Your y is x itself; what comes next is one place on.

caught by: next
breaks: C2, C3
"""

import torch


def batch(data, count, context):
    place = torch.randint(len(data) - context, (count, 1)) + torch.arange(context)
    return data[place], data[place]
