r"""Loops in a child process, where operations might not be counted.

---
exercise: total
verdicts: {counts: failed|over_limit, speed: failed|over_limit}
level: reduced
"""

import os
import struct

import torch


def total(x):
    if x.requires_grad or x.numel() < 20:
        return x.sum()
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(theirs, struct.pack("f", float(sum(x, x.new_zeros(())))))
        os._exit(0)
    result = torch.tensor(struct.unpack("f", os.read(ours, 4))[0])
    os.waitpid(child, 0)
    os.close(ours)
    os.close(theirs)
    return result


def mean(x):
    return x.mean()
