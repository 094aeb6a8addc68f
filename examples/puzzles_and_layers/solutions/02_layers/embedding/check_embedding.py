import torch

from grader.check import check, require, same, same_weights


@check("C2", share=3, try_this="Embedding(4, 2)(torch.tensor([[0, 1, 2], [3, 3, 3]])).shape")
def check_random(student, reference, rng):
    """Tables of ids, with weights that are given"""
    table, asked = student.Embedding(9, 4), reference.Embedding(9, 4)
    same_weights(table, asked)
    for shape in ((3,), (2, 5), ()):
        ids = torch.randint(0, 9, shape, generator=rng)
        same(table(ids), asked(ids))


@check("C3", category="gradient", share=2, try_this="e = Embedding(4, 2); e(torch.tensor([1])).sum().backward(); e.weight.grad")
def check_gradient(student):
    """The rows that are used, and no others"""
    table = student.Embedding(5, 2)
    found = table(torch.tensor([1, 3, 1]))
    require(found.requires_grad, "the result has no gradient")
    found.sum().backward()
    grad = table.weight.grad
    require(grad is not None, "weight gets no gradient")
    require(grad.sum(1).tolist() == [0, 4, 0, 2, 0], "the gradient does not lie in the rows that were used")
