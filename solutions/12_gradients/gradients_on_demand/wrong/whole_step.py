"""You compare f with its value a whole step away; up and down are about a little step, where the gradient tells.

caught by: steeper
keeps: grad_of, leaf
"""

import torch


def steeper(f, x):
    words = []
    for step in torch.eye(len(x)):
        change = f(x + step) - f(x)
        words.append("up" if change > 0 else "down" if change < 0 else "flat")
    return words
