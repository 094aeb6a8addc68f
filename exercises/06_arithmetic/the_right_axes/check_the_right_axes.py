import torch

from grader.check import check, is_instance, is_tensor, reads_openly, require, same_values


def pictures():
    return torch.tensor([[[[1, 3]], [[10, 10]]], [[[5, 7]], [[10, 30]]]], dtype=torch.uint8)


def pair(result):
    is_instance(result, tuple)
    require(len(result) == 2, f"expected a tuple (mean, std), got one of {len(result)}")
    return result


@check("C1", share=1)
def check_two_means(student):
    """Takes the means of two channels"""
    mean, _ = pair(student.channel_stats(pictures()))
    is_tensor(mean, "the mean")
    same_values(mean, torch.tensor([4.0, 15.0]), "the mean")
    reads_openly(student.channel_stats)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_two_deviations(student):
    """Takes the standard deviations of two channels"""
    _, std = pair(student.channel_stats(pictures()))
    is_tensor(std, "the std")
    same_values(std, torch.tensor([5.0, 75.0]).sqrt(), "the std")


@check("C3", share=1)
def check_standardize_two(student):
    """Standardizes two pictures"""
    result = student.standardize(pictures(), torch.tensor([4.0, 15.0]), torch.tensor([2.0, 5.0]))
    is_tensor(result)
    expected = [[[[-1.5, -0.5]], [[-1.0, -1.0]]], [[[0.5, 1.5]], [[-1.0, 3.0]]]]
    same_values(result, torch.tensor(expected))


@check("C4", share=1)
def check_norm_of_two(student):
    """Normalizes two vectors"""
    result = student.layer_norm(torch.tensor([[1.0, 3.0], [5.0, 5.0]]))
    is_tensor(result)
    same_values(result, torch.tensor([[-1.0, 1.0], [0.0, 0.0]]), rtol=1e-4, atol=1e-5)
