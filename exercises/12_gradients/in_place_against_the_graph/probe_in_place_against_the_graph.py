"""Layers that work in place, and what becomes of graphs. Runs beside your code."""

import torch


def layer(name):
    """A layer that works in place, such as "relu_", and counts its calls."""

    def layer_(t):
        layer_.calls += 1
        return getattr(t, name)()

    layer_.calls = 0
    return layer_


def cleared(clear_rows_, numbers, rows, requires):
    """w afterwards, and its facts."""
    w = numbers.clone().requires_grad_(requires)
    place = w.data_ptr()
    result = clear_rows_(w, rows)
    facts = {"none": result is None, "same": result is w, "place": w.data_ptr() == place}
    return w.detach().clone(), {**facts, "requires": w.requires_grad, "leaf": w.is_leaf}


def notices(clear_rows_, numbers, rows):
    """Whether `backward` of a loss that needs the old numbers raises; None if they stay in their memory."""
    w = numbers.clone().requires_grad_()
    memory = w.detach()
    loss = (w * w).sum()
    clear_rows_(w, rows)
    if torch.equal(memory, numbers):
        return None
    try:
        loss.backward()
    except RuntimeError:
        return True
    return False
