"""You keep one number too many: a row of length n ends before place n.

caught by: small
"""

import torch


def sequence_mask(values, lengths):
    return torch.where(torch.arange(values.shape[1]) <= lengths[:, None], values, 0)
