import torch

from grader.check import (
    after_call,
    assert_close,
    assert_isinstance,
    assert_no_hidden_code,
    assert_tensor,
    assert_true,
    assert_values,
    check,
)


def numbers():
    return torch.tensor([[1.0, 5.0, 2.0], [8.0, 2.5, -1.0]])


@check("C1", share=1)
def check_three_of_six(student):
    """Picks three of six numbers"""
    assert_close(student.between(numbers(), 2.0, 5.0), torch.tensor([5.0, 2.0, 2.5]))
    assert_no_hidden_code(student.between)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_count_of_six(student):
    """Counts three of six numbers"""
    count = student.count_between(numbers(), 2.0, 5.0)
    assert_values(count, 3)
    assert_isinstance(count, int)


@check("C3", share=1)
def check_replace_in_six(student):
    """Replaces three of six numbers"""
    x = numbers()
    result = student.replace_between_(x, 2.0, 5.0, 0.0)
    assert_values(x, torch.tensor([[1.0, 0.0, 0.0], [8.0, 0.0, -1.0]]), "x, afterwards,")
    assert_tensor(result)
    assert_true(result is after_call(x), "the result is another tensor than x; change x itself, and return it")


@check("C5", share=1)
def check_three_words(student):
    """Hides the future of three words"""
    low = -torch.inf
    expected = torch.tensor([[1.0, low, low], [1.0, 1.0, low], [1.0, 1.0, 1.0]])
    assert_close(student.hide_future(torch.ones(3, 3)), expected)
