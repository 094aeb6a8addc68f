"""You copy all of x to the CPU to look for one index. Look where x is, and copy what you found.

caught by: few_waits
keeps: loss_log
"""

import torch


def first_bad(x):
    bad = (~torch.isfinite(x.cpu())).nonzero()
    return bad[0].item() if len(bad) else -1
