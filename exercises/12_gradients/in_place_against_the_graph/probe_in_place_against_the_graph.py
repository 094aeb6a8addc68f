"""Layers that work in place, and what becomes of graphs. Runs beside your code."""

import torch

LAYERS = {"relu_": torch.relu_, "sigmoid_": torch.sigmoid_, "triple_": lambda t: t.mul_(3), "minus_": torch.neg_}


def of_residual(residual, name, numbers, slopes, leaf=False):
    """The result, the gradient of x of the sum of slopes * result, x afterwards, how often the layer ran."""
    calls = []

    def layer_(t):
        calls.append(t)
        return LAYERS[name](t)

    start = numbers.clone().requires_grad_()
    x = start if leaf else start * 1
    result = residual(x, layer_)
    found = {"result": result.detach().clone(), "x": x.detach().clone(), "calls": len(calls)}
    gradient = raised = None
    if result.requires_grad:
        try:
            (gradient,) = torch.autograd.grad((slopes * result).sum(), start, allow_unused=True)
        except RuntimeError as error:
            raised = str(error)
    return {**found, "gradient": gradient, "raised": raised}


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
