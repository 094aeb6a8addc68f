import torch

from grader.check import (
    assert_costs_at_most,
    assert_dtype,
    assert_isinstance,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    check,
)


@check("C1", share=1)
def check_two_and_two(student):
    """Interleaves two numbers with two others"""
    result = student.interleave(torch.tensor([1, 3]), torch.tensor([2, 4]))
    assert_tensor(result)
    assert_values(result, torch.tensor([1, 2, 3, 4]))


@check("C2", category="shape", share=1)
def check_two_columns(student):
    """Makes columns of two vectors"""
    result = student.columns([torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 6.0])])
    assert_tensor(result)
    assert_values(result, torch.tensor([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]))


def pair(result):
    assert_isinstance(result, tuple)
    assert_true(len(result) == 2, f"expected a tuple of two tensors, got one of {len(result)}")
    return result


@check("C3", share=1)
def check_two_sentences(student):
    """Pads the shorter of two sentences"""
    batch, _ = pair(student.collate([torch.tensor([5, 6, 7]), torch.tensor([8])], 0))
    assert_tensor(batch, "the batch")
    assert_values(batch, torch.tensor([[5, 6, 7], [8, 0, 0]]), "the batch")


@check("C4", share=2)
def check_mask_of_two(student):
    """Says where the two sentences are, also where they hold a 0"""
    _, mask = pair(student.collate([torch.tensor([5, 0, 7]), torch.tensor([8])], 0))
    assert_tensor(mask, "the mask")
    assert_dtype(mask, torch.bool, "the mask")
    assert_values(mask, torch.tensor([[True, True, True], [True, False, False]]), "the mask")


@check("C5", category="memory", share=1)
def check_collects_once(student):
    """Joins 200 parts without copying them again and again"""
    parts = [torch.full((3, 5), float(i)) for i in range(200)]
    result = student.collect(list(parts))
    assert_shape(result, (600, 5))
    assert_values(result, torch.cat(parts))
    assert_costs_at_most(student.collect, (list(parts),), bytes=2 * 600 * 5 * 4)
