import torch

from grader.check import (
    allclose,
    as_tuples,
    assert_close,
    assert_costs_at_most,
    assert_isinstance,
    assert_true,
    assert_values,
    check,
)


@check("C1", share=1)
def check_four_pictures(student):
    """Picks the score of the right class for 4 pictures"""
    scores = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]])
    assert_close(student.pick(scores, torch.tensor([2, 0, 0, 1])), torch.tensor([3.0, 4.0, 7.0, 11.0]))


@check("C3", category="memory", share=1)
def check_many_classes(student):
    """Picks from 200 rows of 300 classes without a table"""
    scores, labels = torch.arange(60_000.0).reshape(200, 300), torch.arange(0, 200)
    assert_costs_at_most(student.pick, (scores, labels), bytes=20_000)


@check("C4", share=1)
def check_best_of_six(student):
    """Finds the largest of 6 numbers"""
    pair = student.best(torch.tensor([[1.0, -2.0, 8.5], [7.0, 3.0, -9.0]]))
    assert_isinstance(pair, tuple)
    assert_true(len(pair) == 2, f"the result has {len(pair)} items; expected the pair (value, index)")
    assert_isinstance(pair[0], float, "the value")
    assert_values(pair[0], 8.5, "the value")
    assert_values(pair[1], (0, 2), "the index")


@check("C5", share=1)
def check_first_of_three(student):
    """Tells the first of three equal ones"""
    pair = student.best(torch.tensor([[1.0, 6.0], [6.0, 0.0], [6.0, 2.0]]))
    assert_true(isinstance(pair, (tuple, list)) and len(pair) == 2, "the result is not a pair (value, index)")
    for place in ((1, 0), (2, 0)):
        assert_true(
            not allclose(as_tuples(pair[1]), place), f"the index is {place}; the first 6 in reading order is at (0, 1)"
        )
