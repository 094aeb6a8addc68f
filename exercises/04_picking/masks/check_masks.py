import torch

from grader.check import changed, check, is_instance, is_tensor, reads_openly, require, same, same_values


def numbers():
    return torch.tensor([[1.0, 5.0, 2.0], [8.0, 2.5, -1.0]])


@check("C1", share=1)
def check_three_of_six(student):
    """Picks three of six numbers"""
    same(student.between(numbers(), 2.0, 5.0), torch.tensor([5.0, 2.0, 2.5]))
    reads_openly(student.between)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_count_of_six(student):
    """Counts three of six numbers"""
    count = student.count_between(numbers(), 2.0, 5.0)
    same_values(count, 3)
    is_instance(count, int)


@check("C3", share=1)
def check_replace_in_six(student):
    """Replaces three of six numbers"""
    x = numbers()
    result = student.replace_between_(x, 2.0, 5.0, 0.0)
    same_values(x, torch.tensor([[1.0, 0.0, 0.0], [8.0, 0.0, -1.0]]), "x, afterwards,")
    is_tensor(result)
    require(result is changed(x), "the result is another tensor than x; change x itself, and return it")


@check("C5", share=1)
def check_three_words(student):
    """Hides the future of three words"""
    low = -torch.inf
    expected = torch.tensor([[1.0, low, low], [1.0, 1.0, low], [1.0, 1.0, 1.0]])
    same(student.hide_future(torch.ones(3, 3)), expected)
