import torch

from grader.check import (
    as_number,
    assert_no_hidden_code,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    check,
    run_on_ranks,
)

SHARDS = [[torch.tensor([2.0])], [torch.tensor([4.0, 6.0])], [torch.tensor([7.0, 8.0, 9.0, 9.0, 9.0])]]


@check("C1", share=1)
def check_even(student):
    """The mean of two shards of the same length"""
    for rank in run_on_ranks(student.global_mean, [[torch.tensor([1.0, 2.0])], [torch.tensor([3.0, 6.0])]]):
        assert_values(as_number(rank.result), 3.0)
    assert_no_hidden_code(student.global_mean)  # hidden checks cannot judge code that hides what it does


@check("C1", share=2)
def check_uneven(student):
    """The mean of three shards, of 1, 2 and 5 scores"""
    for rank in run_on_ranks(student.global_mean, SHARDS):
        assert_values(as_number(rank.result), 6.75)


@check("C1", category="shape", share=2)
def check_no_dims(student):
    """Returns a 0-dim tensor"""
    for rank in run_on_ranks(student.global_mean, SHARDS[:2]):
        assert_tensor(rank.result, "the result on a rank")
        assert_shape(rank.result, (), "the result on a rank")


@check("C5", category="performance", share=1)
def check_few_collectives(student):
    """Two collectives at most"""
    for rank in run_on_ranks(student.global_mean, SHARDS):
        called = ", ".join(f"{name} {times}" for name, times in rank.collectives.items())
        assert_true(rank.collectives.total() <= 2, f"a rank calls more than two collectives: {called}")
