import torch

from grader.check import (
    CannotJudge,
    assert_dtype,
    assert_no_hidden_code,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    check,
    raises,
)


@check("C1")
def check_example(student):
    """Solves the example, for one right-hand side and for two"""
    matrix = torch.tensor([[4.0, 2.0, -2.0], [2.0, 5.0, 3.0], [-2.0, 1.0, 2.0]])
    for asked in (torch.tensor([1.0, 2.0, 3.0]), torch.tensor([[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])):
        x = student.solve(matrix.clone(), matrix @ asked)
        assert_shape(x, asked, "x")
        assert_values(x, asked, "x", rtol=1e-4, atol=1e-4)
    assert_no_hidden_code(student.solve)  # hidden checks cannot judge code that hides what it does


@check("C2")
def check_small_hilbert(student):
    """Solves a system with a Hilbert matrix"""
    steps = torch.arange(8, dtype=torch.float64)
    matrix = 360360 / (steps[:, None] + steps + 1)  # times 360360, all of its numbers are whole
    b = matrix.sum(1)
    x = student.solve(matrix.clone(), b.clone())
    assert_tensor(x, "x")
    if x.numel() != b.numel():
        raise CannotJudge("x has not as many numbers as b, so A @ x cannot be compared with b")
    # What rounding explains, for the numbers of float32 if x holds these.
    allowed = 100 * float(b.max()) * (1e-7 if x.dtype == torch.float32 else 1e-16)
    worst = float((matrix @ x.double().reshape(8) - b).abs().max())
    text = f"A @ x is not close enough to b\nexpected  a difference of less than {allowed:.1e}\ngot       {worst:.1e}"
    assert_true(worst < allowed, text)


@check("C3", category="dtype")
def check_integers(student):
    """Makes floats out of integers"""
    x = student.solve(torch.tensor([[2, 0], [0, 4]]), torch.tensor([[1, 0], [1, 1]]))
    assert_dtype(x, torch.float32, "x")


@check("C4", category="error")
def check_wide(student):
    """Refuses a matrix with more columns than rows"""
    raises(student.solve, torch.ones(2, 3), torch.ones(2), case="a matrix with more columns than rows")


@check("C5", category="error")
def check_equal_rows(student):
    """Refuses a matrix with two equal rows"""
    matrix = torch.tensor([[1.0, 2.0], [1.0, 2.0]])
    raises(student.solve, matrix, torch.ones(2, 2), case="a matrix with two equal rows")
