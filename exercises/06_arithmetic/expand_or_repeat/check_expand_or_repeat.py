import torch

from grader.check import (
    after_call,
    assert_close,
    assert_no_hidden_code,
    assert_shares_memory,
    assert_shares_no_memory,
    assert_tensor,
    assert_true,
    assert_values,
    check,
)


@check("C1", category="memory", share=1)
def check_three_rows(student):
    """Shows a vector three times"""
    v = torch.tensor([1.0, 2.0])
    rows = student.rows_of(v, 3)
    assert_close(rows, torch.tensor([[1.0, 2.0]] * 3))
    assert_shares_memory(rows, v, base_name="v")
    assert_no_hidden_code(student.rows_of)  # hidden checks cannot judge code that hides what it does


@check("C2", category="memory", share=1)
def check_three_own_rows(student):
    """Copies a vector three times"""
    v = torch.tensor([1.0, 2.0])
    rows = student.own_rows(v, 3)
    assert_close(rows, torch.tensor([[1.0, 2.0]] * 3))
    assert_shares_no_memory(rows, v, base_name="v")
    assert_true(rows.stride(0) != 0, "all rows lie in the same memory: a write to one changes the others")


@check("C3", share=1)
def check_two_numbers(student):
    """Adds one number to each of two rows"""
    batch = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    result = student.add_to_columns_(batch, torch.tensor([10.0, 20.0]))
    assert_tensor(result)
    assert_true(
        result is after_call(batch), "the result is another tensor than batch; change batch itself, and return it"
    )
    assert_values(batch, torch.tensor([[10.0, 11.0], [22.0, 23.0]]), "batch, afterwards,")
