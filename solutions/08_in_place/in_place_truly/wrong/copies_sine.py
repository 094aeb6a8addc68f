"""You copy a finished sine into t; that tensor needs as much memory as t.

caught by: no_memory[sine_]
keeps: axpy_, reset_
"""

import torch


def sine_(t):
    return t.copy_(torch.sin(t))
