import torch

from grader.check import assert_close, assert_true, check, load_weights


@check("C2", share=3, try_this="Embedding(4, 2)(torch.tensor([[0, 1, 2], [3, 3, 3]])).shape")
def check_random(student, reference, rng):
    """Tables of ids, with weights that are given"""
    table, expected = student.Embedding(9, 4), reference.Embedding(9, 4)
    load_weights(table, expected)
    for shape in ((3,), (2, 5), ()):
        ids = torch.randint(0, 9, shape, generator=rng)
        assert_close(table(ids), expected(ids))


@check("C3", category="gradient", share=2, try_this="e = Embedding(4, 2); e(torch.tensor([1])).sum().backward(); e.weight.grad")
def check_gradient(student, probe):
    """The rows that are used, and no others"""
    gradient = probe.gradient_of_weight(student.Embedding(5, 2), torch.tensor([1, 3, 1]))
    assert_true(gradient is not None, "weight gets no gradient")
    assert_true(gradient.sum(1).tolist() == [0, 4, 0, 2, 0], "the gradient does not lie in the rows that were used")
