import torch

from grader.check import CannotJudge, check, is_tensor, raises, require, same_dtype, same_values


@check("C1")
def check_example(student):
    """Solves the three weighings"""
    matrix = torch.tensor([[2.0, 3.0, -1.0], [1.0, -2.0, 8.0], [6.0, 1.0, -3.0]])
    x = student.solve(matrix, torch.tensor([5.0, 21.0, -1.0]))
    same_values(x, torch.tensor([1.0, 2.0, 3.0]), rtol=1e-4, atol=1e-4)


@check("C1")
def check_two_sides(student):
    """Solves for two right-hand sides at once"""
    matrix = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
    x = student.solve(matrix, torch.tensor([[4.0, 1.0], [8.0, 4.0]]))
    same_values(x, torch.tensor([[1.0, 0.0], [2.0, 1.0]]), rtol=1e-4, atol=1e-4)


@check("C3")
def check_small_hilbert(student):
    """Solves a system with a Hilbert matrix"""
    steps = torch.arange(8, dtype=torch.float64)
    matrix = 1 / (steps[:, None] + steps + 1)
    b = matrix @ torch.ones(8, dtype=torch.float64)
    x = student.solve(matrix, b.clone())
    is_tensor(x, "x")
    if x.shape != b.shape:
        raise CannotJudge("x does not have the shape of b, so A @ x cannot be compared with b")
    allowed = 100 * torch.finfo(x.dtype if x.dtype.is_floating_point else torch.float64).eps
    worst = float((matrix @ x.double() - b).abs().max())
    text = f"A @ x is not close enough to b\nasked  off by less than {allowed:.1e}\nyours  off by {worst:.1e}"
    require(worst < allowed, text)


@check("C4", category="dtype")
def check_integers(student):
    """Makes floats out of integers"""
    x = student.solve(torch.tensor([[2, 0], [0, 4]]), torch.tensor([1, 1]))
    same_dtype(x, torch.float32)


@check("C5", category="error")
def check_wide(student):
    """Refuses a matrix with more columns than rows"""
    raises(student.solve, torch.ones(2, 3), torch.ones(2), case="a matrix with more columns than rows")


@check("C6", category="error")
def check_equal_rows(student):
    """Refuses a matrix with two equal rows"""
    matrix = torch.tensor([[1.0, 2.0], [1.0, 2.0]])
    raises(student.solve, matrix, torch.tensor([1.0, 1.0]), case="a matrix with two equal rows")
