import torch

from grader.check import assert_costs_at_most, assert_tensor, assert_true, assert_values, check, gradients


@check("C1", share=1)
def check_swish_of_two(student):
    """Computes swish of two numbers"""
    y = student.swish(torch.tensor([0.0, 2.0]))
    assert_tensor(y)
    assert_values(y, torch.tensor([0.0, 1.7616]), atol=1e-4)


@check("C3", category="gradient", share=1)
def check_slope_of_swish(student):
    """The slope of swish at 0 and 2"""
    (slope,) = gradients(student.swish, torch.tensor([0.0, 2.0]))
    assert_true(slope is not None, "no gradient reaches x")
    assert_values(slope, torch.tensor([0.5, 1.0908]), "the gradient of x", atol=1e-4)


@check("C2", share=1)
def check_residual_of_three(student, probe):
    """Adds x to its relu"""
    y = student.residual(torch.tensor([-1.0, 2.0, 3.0]), probe.layer("relu_"))
    assert_values(y, torch.tensor([-1.0, 4.0, 6.0]))


@check("C4", share=1)
def check_two_queries(student):
    """Hides the second key from the first query"""
    zeros = torch.zeros(1, 2, 3)
    y = student.attention(zeros, zeros.clone(), torch.tensor([[False, True], [False, False]]))
    assert_tensor(y)
    assert_values(y, torch.tensor([[[1.0, 0.0], [0.5, 0.5]]]))


@check("C5", category="memory", share=5)
def check_two_tables(student):
    """Attention in a batch of 8, with memory for two tables, without gradients and with them"""
    hidden = torch.ones(20, 20).triu(1).bool()
    for requires in (False, True):
        q, k = (torch.ones(8, 20, 2).requires_grad_(requires) for _ in range(2))
        assert_costs_at_most(student.attention, (q, k, hidden), bytes=9 * 8 * 20 * 20)


@check("C6", category="memory", share=1)
def check_one_row(student, probe):
    """Sets the second of two rows to 0"""
    w, facts = probe.cleared(student.clear_rows_, torch.tensor([[1.0, 2.0], [3.0, 4.0]]), [1], True)
    assert_true(facts["same"], "the result is another tensor than w; write into w, and return it")
    assert_values(w, torch.tensor([[1.0, 2.0], [0.0, 0.0]]), "w, afterwards,")


@check("C7", category="gradient", share=3)
def check_notices(student, probe):
    """A loss from before the change raises in backward"""
    for rows in ([1], [1, 0]):
        noticed = probe.notices(student.clear_rows_, torch.tensor([[1.0, 2.0], [3.0, 4.0]]), rows)
        assert_true(
            noticed is not None, "`clear_rows_` does not change w in its memory; PyTorch can notice it only there"
        )
        assert_true(noticed is True, "`backward` computes gradients from numbers that were overwritten, without a word")
