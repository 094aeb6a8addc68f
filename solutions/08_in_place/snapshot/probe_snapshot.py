"""What student code makes of a tensor in a graph. Runs beside the student's code."""

import torch


def of_a_result(function, numbers):
    """What a function gives for the result of a computation: the result itself, and whether it is in the graph."""
    w = numbers.clone().requires_grad_() * 1
    result = function(w)
    return result.detach().clone(), result.requires_grad, result.data_ptr() == w.data_ptr()


def gradient_through(function, numbers, factor):
    """The gradient that comes back to w through what a function gives."""
    w = numbers.clone().requires_grad_()
    result = function(w)
    if not result.requires_grad:
        return None
    (factor * result).sum().backward()
    return w.grad


def after_restoring(restore_, numbers, saved):
    """w and its facts after `restore_`, and saved after w has changed once more."""
    w = numbers.detach().requires_grad_()
    place = w.data_ptr()
    result = restore_(w, saved)
    facts = (result is None, result is w, w.requires_grad, w.is_leaf, w.grad_fn is None, w.data_ptr() == place)
    now = w.detach().clone()
    with torch.no_grad():
        w.add_(1)
    return now, facts, saved.detach().clone()


def after_restoring_others(restore_, numbers, saved):
    """A w without a gradient, and one that is the result of a computation, each with what is known of its graph."""
    plain = numbers.clone()
    restore_(plain, saved)
    w = numbers.clone().requires_grad_() * 1
    made_by = w.grad_fn
    restore_(w, saved)
    return plain.detach().clone(), plain.requires_grad, w.detach().clone(), w.grad_fn is made_by


def after_blending(blend_, average, w, decay, graph):
    """The average and its facts after `blend_` with a w that is a leaf of a graph, a result in one, or in none."""
    average, numbers = average.detach(), w.clone()
    leaf = w.detach().requires_grad_()
    w = {"leaf": leaf, "result": leaf * 1, "none": w.detach()}[graph]
    place = average.data_ptr()
    result = blend_(average, w, decay)
    recorded = average.requires_grad or average.grad_fn is not None
    kept = torch.equal(w.detach(), numbers) and w.requires_grad is (graph != "none") and leaf.grad is None
    return average.detach().clone(), (result is None, result is average, average.data_ptr() == place, recorded, kept)


def stays(function, numbers):
    """Whether w keeps its numbers, its `requires_grad` and its `.grad`."""
    w = numbers.clone().requires_grad_()
    w.grad = torch.full_like(numbers, 7)
    function(w)
    plain = numbers.clone()
    function(plain)
    same = torch.equal(w.detach(), numbers) and torch.equal(plain, numbers)
    requires = w.requires_grad and not plain.requires_grad
    return same, requires, w.grad is not None and bool((w.grad == 7).all())
