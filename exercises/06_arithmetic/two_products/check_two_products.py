import torch

from grader.check import assert_costs_at_most, assert_tensor, assert_values, check, raises


@check("C1", share=1)
def check_gate_of_four(student):
    """Multiplies four numbers with four others"""
    gated = student.gate(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0.0, 1.0], [0.5, 2.0]]))
    assert_tensor(gated)
    assert_values(gated, torch.tensor([[0.0, 2.0], [1.5, 8.0]]))


@check("C2", category="error", share=1)
def check_row_and_column(student):
    """Refuses a gate of another shape"""
    raises(student.gate, torch.ones(3), torch.ones(3, 1), error=ValueError, case="a row of 3 with a column of 3")


@check("C3", share=1)
def check_two_queries(student):
    """Compares two queries with three keys"""
    queries = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    table = student.similarity(queries, torch.tensor([[1.0, 1.0], [3.0, 0.0], [0.0, 4.0]]))
    assert_tensor(table)
    assert_values(table, torch.tensor([[1.0, 3.0, 0.0], [2.0, 0.0, 8.0]]))


@check("C5", share=1)
def check_three_pairs(student):
    """Scores three pairs"""
    x, y = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), torch.tensor([[1.0], [2.0], [3.0]])
    scores = student.pair_scores(x, torch.tensor([[10.0], [100.0]]), y)
    assert_tensor(scores)
    assert_values(scores, torch.tensor([10.0, 200.0, 330.0]))


@check("C6", category="memory", share=1)
def check_no_table(student):
    """Scores 500 pairs without a table of 500 by 500"""
    assert_costs_at_most(student.pair_scores, (torch.ones(500, 5), torch.ones(5, 6), torch.ones(500, 6)), bytes=200_000)


@check("C7", share=1)
def check_three_rewards(student):
    """Discounts three rewards"""
    values = student.discounted([1.0, 1.0, 8.0], 0.5)
    assert_tensor(values)
    assert_values(values, torch.tensor([1.0, 0.5, 2.0]))
