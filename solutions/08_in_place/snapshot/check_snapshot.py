import itertools

import pytest
import torch

from grader.check import (
    assert_differentiable,
    assert_dtype,
    assert_shape,
    assert_shares_no_memory,
    assert_tensor,
    assert_true,
    assert_values,
    assert_view,
    check,
    facts,
)

GRAPHS = "leaf", "result", "none"


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


def each(function, rng):
    """What a function gives for all weights, and these. It has the kind, shape, numbers and dtype of w."""
    for w in all_weights(rng):
        result = function(w)
        assert_tensor(result)
        assert_shape(result, w)
        assert_values(result.detach(), w.detach())
        assert_dtype(result, w)
        yield result, w


@check("C1", category="memory", share=3, try_this="s = snapshot(torch.ones(2, requires_grad=True)); s.requires_grad")
def check_snapshot(student, rng):
    """Takes snapshots of weights of any shape"""
    for saved, w in each(student.snapshot, rng):
        assert_shares_no_memory(saved, w, base_name="w")
        assert_true(not facts(saved).requires_grad, "the snapshot requires a gradient; detach it from the graph")


@check("C2", category="gradient", share=3, try_this="(3 * branch(w)).sum().backward(); print(w.grad)")
def check_branch(student, rng):
    """Copies weights, and lets gradients through"""
    for copy, w in each(student.branch, rng):
        assert_shares_no_memory(copy, w, base_name="w")
    assert_differentiable(student.branch, rng.normal(4), names=("w",))


@check("C3", category="memory", share=3, try_this="w = torch.ones(2, requires_grad=True); peek(w).fill_(5.0); print(w)")
def check_peek(student, rng):
    """Looks at weights without a copy"""
    for view, w in each(student.peek, rng):
        if w.numel():
            assert_view(view, w, base_name="w")
        assert_true(not facts(view).requires_grad, "the view requires a gradient; detach it from the graph")


@check("C4", category="memory", share=5, try_this="s = torch.zeros(2); restore_(w, s); print(w, w.is_leaf, s)")
def check_restore(student, probe, rng):
    """Restores weights in their own memory, and leaves saved alone, also later"""
    special = torch.tensor([torch.nan, torch.inf, 1e30]), rng.normal(3)
    for (numbers, saved), graph in itertools.product([*all_pairs(rng), special], GRAPHS):
        expected = saved.clone()
        now, found, later = probe.after_restoring(student.restore_, numbers, saved, graph)
        none, same, place, requires, unrecorded = found
        assert_true(not none, "`restore_` returned None (is a `return` missing?)")
        assert_true(same, "the result is another tensor than w; write into w itself, and return it")
        assert_values(now, expected, "w, afterwards,", rtol=0.0, atol=0.0)
        assert_true(place, "w has other memory than before the call; write into the memory that it has")
        assert_true(requires or graph == "none", "w requires no gradient any more")
        assert_true(not requires or graph != "none", "w requires a gradient after the call, and required none before")
        assert_true(unrecorded, "the write was recorded in the graph; write without gradients")
        assert_values(later, expected, "saved, after a change of w,")


@check("C5", category="memory", share=4, try_this="table = torch.ones(2, 2); blend_(table[:, 0], w, 0.5); print(table)")
def check_blend(student, probe, rng):
    """Averages weights, in the memory of the average"""
    decays = 0.0, 0.25 + rng.uniform(1).item() / 2, 1.0
    for (average, w), decay, graph in itertools.product(all_pairs(rng), decays, GRAPHS):
        expected = decay * average.double() + (1 - decay) * w.double()
        now, found = probe.after_blending(student.blend_, average.clone(), w, decay, graph)
        none, same, place, recorded, kept = found
        assert_true(not none, "`blend_` returned None (is a `return` missing?)")
        assert_true(same, "the result is another tensor than average; write into average itself, and return it")
        assert_true(place, "average has other memory than before the call; write into the memory that it has")
        assert_dtype(now, average)
        close = {torch.float64: 1e-12, torch.bfloat16: 2e-2}.get(average.dtype, 1e-5)
        assert_values(now, expected, "average, afterwards,", rtol=close, atol=close)
        assert_true(not recorded, "the average became a part of the graph; write without gradients")
        assert_true(kept, "w has other numbers, another `requires_grad` or another `.grad` after the call")
    table, w = rng.normal(4, 3), rng.normal(4)
    expected = table.clone()
    expected[:, 1] = (table[:, 1] + w) / 2
    student.blend_(table[:, 1], w, 0.5)
    assert_values(table, expected, "the table whose column is the average", rtol=1e-5, atol=1e-6)


@check("C6", category="gradient", share=2, try_this="snapshot(w), branch(w), peek(w); print(w.requires_grad, w.grad)")
@pytest.mark.parametrize("name", ["snapshot", "branch", "peek"])
def check_any_w(student, probe, rng, name):
    """Works in and out of a graph, and leaves w, its requires_grad and its grad as they are"""
    for graph in GRAPHS:
        numbers = rng.normal(3, 2)
        found, requires, shared, (same, still, grad) = probe.of_w(getattr(student, name), numbers, graph)
        assert_true(same is True, "w has other numbers after the call")
        assert_true(still is True, "w has another `requires_grad` after the call")
        assert_true(grad is True, "w has another `.grad` after the call")
        assert_values(found, numbers)
        if name == "branch" and graph != "none":
            assert_true(requires is True, "the result of `branch` requires no gradient; it must stay in the graph of w")
        else:
            where = ", as w requires none" if name == "branch" else ""
            assert_true(requires is False, f"the result of `{name}` requires a gradient; it must not{where}")
        if name == "peek":
            assert_true(shared is True, "the result of `peek` is a copy; it must share memory with w")
        else:
            assert_true(shared is False, f"the result of `{name}` shares memory with w; it must have its own")
