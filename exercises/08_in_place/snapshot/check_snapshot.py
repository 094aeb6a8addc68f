import torch

from grader.check import changed, check, facts, is_tensor, require, same_values, shares, shares_nothing


def weights():
    return torch.tensor([1.0, 2.0], requires_grad=True)


@check("C1", category="memory", share=1)
def check_two_weights(student):
    """Takes a snapshot of two weights"""
    w = weights()
    saved = student.snapshot(w)
    is_tensor(saved)
    same_values(saved, torch.tensor([1.0, 2.0]))
    shares_nothing(saved, w, base_name="w")
    require(not facts(saved).requires_grad, "the snapshot requires a gradient; detach it from the graph")


@check("C2", category="gradient", share=1)
def check_branch_of_two(student):
    """Copies two weights within the graph"""
    w = weights()
    copy = student.branch(w)
    is_tensor(copy)
    same_values(copy, torch.tensor([1.0, 2.0]))
    shares_nothing(copy, w, base_name="w")
    require(facts(copy).requires_grad, "the copy is not in the graph: it requires no gradient")


@check("C3", category="memory", share=1)
def check_peek_at_two(student):
    """Looks at two weights"""
    w = weights()
    view = student.peek(w)
    is_tensor(view)
    same_values(view, torch.tensor([1.0, 2.0]))
    shares(view, w, base_name="w")
    require(not facts(view).requires_grad, "the view requires a gradient; detach it from the graph")


@check("C4", category="memory", share=1)
def check_restore_two(student):
    """Restores two weights"""
    w = weights()
    result = student.restore_(w, torch.tensor([5.0, 6.0]))
    is_tensor(result)
    require(result is changed(w), "the result is another tensor than w; write into w itself, and return it")
    same_values(w.detach(), torch.tensor([5.0, 6.0]), "w, afterwards,")


@check("C5", category="memory", share=1)
def check_blend_two(student):
    """Averages two weights with their average"""
    average = torch.tensor([3.0, 4.0])
    result = student.blend_(average, weights(), 0.5)
    is_tensor(result)
    require(result is changed(average), "the result is another tensor than average; write into average itself")
    same_values(result.detach(), torch.tensor([2.0, 3.0]), "average, afterwards,")
    require(not facts(result).requires_grad, "average requires a gradient after the call; write without gradients")
