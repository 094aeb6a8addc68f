import torch

from grader.check import assert_isinstance, assert_no_hidden_code, assert_tensor, assert_true, assert_values, check


def pictures():
    return torch.tensor([[[[1, 3]], [[10, 10]]], [[[5, 7]], [[10, 30]]]], dtype=torch.uint8)


def pair(result):
    assert_isinstance(result, tuple)
    assert_true(len(result) == 2, f"expected a tuple (mean, std), got one of {len(result)}")
    return result


@check("C1", share=1)
def check_two_means(student):
    """Takes the means of two channels"""
    mean, _ = pair(student.channel_stats(pictures()))
    assert_tensor(mean, "the mean")
    assert_values(mean, torch.tensor([4.0, 15.0]), "the mean")
    assert_no_hidden_code(student.channel_stats)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_two_deviations(student):
    """Takes the standard deviations of two channels"""
    _, std = pair(student.channel_stats(pictures()))
    assert_tensor(std, "the std")
    assert_values(std, torch.tensor([5.0, 75.0]).sqrt(), "the std")


@check("C3", share=1)
def check_standardize_two(student):
    """Standardizes two pictures"""
    result = student.standardize(pictures(), torch.tensor([4.0, 15.0]), torch.tensor([2.0, 5.0]))
    assert_tensor(result)
    expected = [[[[-1.5, -0.5]], [[-1.0, -1.0]]], [[[0.5, 1.5]], [[-1.0, 3.0]]]]
    assert_values(result, torch.tensor(expected))


@check("C4", share=1)
def check_norm_of_two(student):
    """Normalizes two vectors"""
    result = student.layer_norm(torch.tensor([[1.0, 3.0], [5.0, 5.0]]))
    assert_tensor(result)
    assert_values(result, torch.tensor([[-1.0, 1.0], [0.0, 0.0]]), rtol=1e-4, atol=1e-5)
