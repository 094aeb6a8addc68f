import torch

from grader.check import assert_dtype, assert_true, check


@check("C1", category="dtype", share=1, try_this="batch(torch.arange(9), 2, 3)[0].dtype")
def check_dtype(student):
    """Whole numbers"""
    x, y = student.batch(torch.arange(9), 2, 3)
    for part in (x, y):
        assert_dtype(part, torch.int64)


@check("C3", share=2, try_this="batch(torch.arange(5), 100, 3)[0].unique(dim=0)")
def check_everywhere(student):
    """The first piece and the last one are drawn, too"""
    x, y = student.batch(torch.arange(6), 300, 3)
    assert_true(int(x.min()) == 0, "the first piece is never drawn")
    assert_true(int(y.max()) == 5, "the last piece is never drawn")


@check("C3", share=2, try_this="batch(torch.arange(99), 3, 2) twice")
def check_anew(student):
    """Two calls, two batches"""
    one, two = (student.batch(torch.arange(1000), 8, 3)[0] for _ in range(2))
    assert_true(not torch.equal(one, two), "each call gives the same pieces")
