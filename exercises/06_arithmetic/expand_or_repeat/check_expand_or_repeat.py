import torch

from grader.check import changed, check, is_tensor, reads_openly, require, same, same_values, shares, shares_nothing


@check("C1", category="memory", share=1)
def check_three_rows(student):
    """Shows a vector three times"""
    v = torch.tensor([1.0, 2.0])
    rows = student.rows_of(v, 3)
    same(rows, torch.tensor([[1.0, 2.0]] * 3))
    shares(rows, v, base_name="v")
    reads_openly(student.rows_of)  # hidden checks cannot judge code that hides what it does


@check("C2", category="memory", share=1)
def check_three_own_rows(student):
    """Copies a vector three times"""
    v = torch.tensor([1.0, 2.0])
    rows = student.own_rows(v, 3)
    same(rows, torch.tensor([[1.0, 2.0]] * 3))
    shares_nothing(rows, v, base_name="v")
    require(rows.stride(0) != 0, "all rows lie in the same memory: a write to one changes the others")


@check("C3", share=1)
def check_two_numbers(student):
    """Adds one number to each of two rows"""
    batch = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    result = student.add_to_columns_(batch, torch.tensor([10.0, 20.0]))
    is_tensor(result)
    require(result is changed(batch), "the result is another tensor than batch; change batch itself, and return it")
    same_values(batch, torch.tensor([[10.0, 11.0], [22.0, 23.0]]), "batch, afterwards,")
