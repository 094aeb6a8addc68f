"""You say which numbers occur, not how often: add the ones up.

caught by: small
"""

import torch


def tally(x, n):
    return (x[:, None] == torch.arange(n)).any(0).long()
