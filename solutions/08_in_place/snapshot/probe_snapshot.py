"""What student code makes of a tensor in a graph. Runs beside the student's code."""

import torch


def in_graph(numbers, graph):
    """A w that is a leaf of a graph, a result in one, or in none; and the leaf of that graph."""
    leaf = numbers.detach().requires_grad_()
    return {"leaf": leaf, "result": leaf * 1, "none": numbers.detach()}[graph], leaf


def of_w(function, numbers, graph):
    """What a function gives, whether that requires a gradient and shares memory, and whether w stays as it is."""
    w, leaf = in_graph(numbers.clone(), graph)
    leaf.grad = torch.full_like(numbers, 7)
    result = function(w)
    requires = w.requires_grad is (graph != "none")
    kept = torch.equal(w.detach(), numbers), requires, leaf.grad is not None and bool((leaf.grad == 7).all())
    return result.detach().clone(), result.requires_grad, result.data_ptr() == w.data_ptr(), kept


def after_restoring(restore_, numbers, saved, graph):
    """w and its facts after `restore_`, and saved after w has changed once more."""
    w, _ = in_graph(numbers, graph)
    place, made_by = w.data_ptr(), w.grad_fn
    result = restore_(w, saved)
    facts = (result is None, result is w, w.data_ptr() == place, w.requires_grad, w.grad_fn is made_by)
    now = w.detach().clone()
    with torch.no_grad():
        w.add_(1)
    return now, facts, saved.detach().clone()


def after_blending(blend_, average, w, decay, graph):
    """The average and its facts after `blend_`, and whether w stays as it is."""
    average, numbers = average.detach(), w.clone()
    w, leaf = in_graph(w, graph)
    place = average.data_ptr()
    result = blend_(average, w, decay)
    recorded = average.requires_grad or average.grad_fn is not None
    kept = torch.equal(w.detach(), numbers) and w.requires_grad is (graph != "none") and leaf.grad is None
    return average.detach().clone(), (result is None, result is average, average.data_ptr() == place, recorded, kept)
