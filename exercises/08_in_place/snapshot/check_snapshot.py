import torch

from grader.check import (
    after_call,
    assert_shares_memory,
    assert_shares_no_memory,
    assert_tensor,
    assert_true,
    assert_values,
    check,
    facts,
)


def weights():
    return torch.tensor([1.0, 2.0], requires_grad=True)


@check("C1", category="memory", share=1)
def check_two_weights(student):
    """Takes a snapshot of two weights"""
    w = weights()
    saved = student.snapshot(w)
    assert_tensor(saved)
    assert_values(saved, torch.tensor([1.0, 2.0]))
    assert_shares_no_memory(saved, w, base_name="w")
    assert_true(not facts(saved).requires_grad, "the snapshot requires a gradient; detach it from the graph")


@check("C2", category="gradient", share=1)
def check_branch_of_two(student):
    """Copies two weights within the graph"""
    w = weights()
    copy = student.branch(w)
    assert_tensor(copy)
    assert_values(copy, torch.tensor([1.0, 2.0]))
    assert_shares_no_memory(copy, w, base_name="w")
    assert_true(facts(copy).requires_grad, "the copy is not in the graph: it requires no gradient")


@check("C3", category="memory", share=1)
def check_peek_at_two(student):
    """Looks at two weights"""
    w = weights()
    view = student.peek(w)
    assert_tensor(view)
    assert_values(view, torch.tensor([1.0, 2.0]))
    assert_shares_memory(view, w, base_name="w")
    assert_true(not facts(view).requires_grad, "the view requires a gradient; detach it from the graph")


@check("C4", category="memory", share=1)
def check_restore_two(student):
    """Restores two weights"""
    w = weights()
    result = student.restore_(w, torch.tensor([5.0, 6.0]))
    assert_tensor(result)
    assert_true(result is after_call(w), "the result is another tensor than w; write into w itself, and return it")
    assert_values(w.detach(), torch.tensor([5.0, 6.0]), "w, afterwards,")


@check("C5", category="memory", share=1)
def check_blend_two(student):
    """Averages two weights with their average"""
    average = torch.tensor([3.0, 4.0])
    result = student.blend_(average, weights(), 0.5)
    assert_tensor(result)
    assert_true(result is after_call(average), "the result is another tensor than average; write into average itself")
    assert_values(result.detach(), torch.tensor([2.0, 3.0]), "average, afterwards,")
    assert_true(not facts(result).requires_grad, "average requires a gradient after the call; write without gradients")
