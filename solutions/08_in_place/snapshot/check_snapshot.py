import itertools

import pytest
import torch

from grader.check import (
    check,
    facts,
    is_tensor,
    is_view_of,
    require,
    same_dtype,
    same_shape,
    same_values,
    shares_nothing,
)

OWN = "w = torch.ones(2, requires_grad=True); s = snapshot(w); s.requires_grad, s.data_ptr() == w.data_ptr()"
THROUGH = "w = torch.ones(2, requires_grad=True); (3 * branch(w)).sum().backward(); print(w.grad)"
SHARED = "w = torch.ones(2, requires_grad=True); p = peek(w); p.fill_(5.0); print(w)"
BACK = "w = torch.ones(2, requires_grad=True); restore_(w, torch.zeros(2)); print(w, w.is_leaf)"
BLEND = "a = torch.zeros(2); blend_(a, torch.ones(2, requires_grad=True), 0.5); print(a)"
LATER = "s = torch.zeros(2); w = restore_(torch.ones(2), s); w.add_(1); print(s)"
RESULT = "w = torch.ones(2, requires_grad=True) * 2; snapshot(w).requires_grad, branch(w).requires_grad"
STAYS = "w = torch.ones(2, requires_grad=True); snapshot(w), branch(w), peek(w); print(w.requires_grad, w.grad)"
FUNCTIONS = ["snapshot", "branch", "peek"]


def all_weights(rng):
    """Floats of 0 to 3 dims, of several dtypes and strides; every other one requires a gradient."""
    a, b, c = rng.sizes(3)
    made = [rng.normal(*shape) for shape in ((), (a,), (a, b), (b, 0), (a, b, c))]
    made += [rng.normal(b, a, dtype=torch.float64).T, rng.normal(a, 2 * c)[:, ::2]]
    made += [rng.normal(a, b).to(dtype) for dtype in (torch.bfloat16, torch.float16)]
    return [w.detach().requires_grad_() if number % 2 else w for number, w in enumerate(made)]


def all_pairs(rng):
    """Two tensors of one shape and dtype, of several shapes, dtypes and strides."""
    pairs = [(rng.normal(*shape), rng.normal(*shape)) for shape in ((), (5,), (3, 4), (3, 0))]
    pairs += [(rng.normal(4, 3).T, rng.normal(3, 4)), (rng.normal(3, 8)[:, ::2], rng.normal(4, 3).T)]
    pairs += [(rng.normal(4, dtype=dtype), rng.normal(4, dtype=dtype)) for dtype in (torch.float64, torch.bfloat16)]
    return pairs


def looks_like(yours, w):
    is_tensor(yours)
    same_shape(yours, w)
    same_values(yours.detach(), w.detach())
    same_dtype(yours, w)


@check("C1", category="memory", share=3, try_this=OWN)
def check_snapshot(student, rng):
    """Takes snapshots of weights of any shape"""
    for w in all_weights(rng):
        saved = student.snapshot(w)
        looks_like(saved, w)
        shares_nothing(saved, w, base_name="w")
        require(not facts(saved).requires_grad, "the snapshot requires a gradient; detach it from the graph")


@check("C2", category="gradient", share=3, try_this=THROUGH)
def check_branch(student, probe, rng):
    """Copies weights, and lets gradients through"""
    for w in all_weights(rng):
        copy = student.branch(w)
        looks_like(copy, w)
        shares_nothing(copy, w, base_name="w")
    numbers, factor = rng.normal(4), rng.normal(4)
    gradient = probe.gradient_through(student.branch, numbers, factor)
    require(gradient is not None, "no gradient flows back to w")
    same_values(gradient, factor, "the gradient of w")


@check("C3", category="memory", share=3, try_this=SHARED)
def check_peek(student, rng):
    """Looks at weights without a copy"""
    for w in all_weights(rng):
        view = student.peek(w)
        looks_like(view, w)
        if w.numel():
            is_view_of(view, w, base_name="w")
        require(not facts(view).requires_grad, "the view requires a gradient; detach it from the graph")


@check("C4", category="memory", share=3, try_this=BACK)
def check_restore(student, probe, rng):
    """Restores weights that require a gradient, in their own memory"""
    special = torch.tensor([torch.nan, torch.inf, 1e30]), rng.normal(3)
    for numbers, saved in [*all_pairs(rng), special]:
        expected = saved.clone()
        now, found, _ = probe.after_restoring(student.restore_, numbers, saved)
        none, same, requires, leaf, fresh, place = found
        require(not none, "`restore_` returned None (is a `return` missing?)")
        require(same, "the result is another tensor than w; write into w itself, and return it")
        same_values(now, expected, "w, afterwards,", rtol=0.0, atol=0.0)
        require(place, "w has other memory than before the call; write into the memory that it has")
        require(requires, "w requires no gradient any more")
        require(leaf and fresh, "the write was recorded in the graph; write without gradients")


@check("C5", category="memory", share=1, try_this=LATER)
def check_saved_stays(student, probe, rng):
    """Leaves saved alone, also later"""
    numbers, saved = rng.normal(4), rng.normal(4)
    expected = saved.clone()
    _, _, later = probe.after_restoring(student.restore_, numbers, saved)
    same_values(later, expected, "saved, after a change of w,")


@check("C6", category="memory", share=3, try_this=BLEND)
def check_blend(student, probe, rng):
    """Averages weights, in the memory of the average"""
    decays = 0.0, 0.25 + rng.uniform(1).item() / 2, 1.0
    for (average, w), decay, graph in itertools.product(all_pairs(rng), decays, ("none", "leaf", "result")):
        expected = decay * average.double() + (1 - decay) * w.double()
        now, found = probe.after_blending(student.blend_, average.clone(), w, decay, graph)
        none, same, place, recorded, kept = found
        require(not none, "`blend_` returned None (is a `return` missing?)")
        require(same, "the result is another tensor than average; write into average itself, and return it")
        require(place, "average has other memory than before the call; write into the memory that it has")
        same_dtype(now, average)
        close = 2e-2 if average.dtype == torch.bfloat16 else 1e-5
        same_values(now, expected, "average, afterwards,", rtol=close, atol=close)
        require(not recorded, "the average became a part of the graph; write without gradients")
        require(kept, "w has other numbers, another `requires_grad` or another `.grad` after the call")


@check("C6", category="memory", share=1, try_this="table = torch.ones(2, 2); blend_(table[:, 0], w, 0.5); print(table)")
def check_blend_a_column(student, rng):
    """Averages a column of a table"""
    table, w = rng.normal(4, 3), rng.normal(4)
    expected = table.clone()
    expected[:, 1] = (table[:, 1] + w) / 2
    student.blend_(table[:, 1], w, 0.5)
    same_values(table, expected, "the table whose column is the average", rtol=1e-5, atol=1e-6)


@check("C7", category="gradient", share=1, try_this=RESULT)
@pytest.mark.parametrize("name", FUNCTIONS)
def check_of_a_result(student, probe, rng, name):
    """Works for the result of a computation"""
    numbers = rng.normal(3, 2)
    found, requires, shared = probe.of_a_result(getattr(student, name), numbers)
    same_values(found, numbers)
    if name == "branch":
        require(requires is True, "the result of `branch` requires no gradient; it must stay in the graph")
    else:
        require(requires is False, f"the result of `{name}` requires a gradient; detach it")
    if name == "peek":
        require(shared is True, "the result of `peek` is a copy; it must share memory with w")
    else:
        require(shared is False, f"the result of `{name}` shares memory with w; it must have its own")


@check("C7", category="gradient", share=1, try_this=STAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def check_w_stays(student, probe, rng, name):
    """Leaves w, its requires_grad and its grad as they are"""
    numbers, requires, grad = probe.stays(getattr(student, name), rng.normal(3, 2))
    require(numbers is True, "w has other numbers after the call")
    require(requires is True, "w has another `requires_grad` after the call")
    require(grad is True, "w has another `.grad` after the call")


@check("C7", category="gradient", share=1, try_this="w = restore_(torch.ones(2), torch.zeros(2)); w.requires_grad")
def check_restore_others(student, probe, rng):
    """Restores what requires no gradient, and the result of a computation"""
    saved = rng.normal(3, 2)
    expected = saved.clone()
    plain, requires, result, same_graph = probe.after_restoring_others(student.restore_, rng.normal(3, 2), saved)
    same_values(plain, expected, "w, afterwards,", rtol=0.0, atol=0.0)
    require(requires is False, "w requires a gradient after the call, and required none before")
    same_values(result, expected, "w, afterwards,", rtol=0.0, atol=0.0)
    require(same_graph is True, "the write was recorded in the graph; write without gradients")
