import torch

from grader.check import allclose, assert_shape, assert_tensor, assert_true, assert_values, check


@check("C1", share=1)
def check_two_by_two(student):
    """A picture of 2 rows, 2 columns and 3 channels"""
    img = torch.tensor([[[11, 21, 31], [12, 22, 32]], [[13, 23, 33], [14, 24, 34]]])
    turned = student.hwc_to_chw(img)
    assert_tensor(turned)
    assert_shape(turned, (3, 2, 2))
    assert_values(turned, torch.tensor([[[11, 12], [13, 14]], [[21, 22], [23, 24]], [[31, 32], [33, 34]]]))


@check("C2", category="memory", share=1)
def check_write_shows(student):
    """A write to the turned picture shows in img"""
    img = torch.ones(2, 4, 3)
    turned = student.hwc_to_chw(img)
    assert_tensor(turned)
    turned.fill_(0.0)
    text = "after hwc_to_chw(img).fill_(0.0) there are other numbers than 0 in img: the result is a copy"
    assert_true((img == 0.0).all(), text)


@check("C3", share=1)
def check_two_items(student):
    """A batch of 2 items"""
    rows = student.flatten_items(torch.arange(12.0).reshape(2, 3, 2, 1))
    assert_tensor(rows)
    assert_shape(rows, (2, 6))
    assert_values(rows, torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]]))


@check("C4", share=1)
def check_camera_batch(student):
    """A batch that was permuted"""
    batch = torch.tensor([[[[1, 5], [2, 6]], [[3, 7], [4, 8]]]]).permute(0, 3, 1, 2)
    rows = student.flatten_items(batch)
    assert_tensor(rows)
    # What is wrong for any strides is for other checks.
    if not allclose(rows, torch.tensor([[1, 2, 3, 4, 5, 6, 7, 8]])):
        assert_values(rows, student.flatten_items(batch.contiguous()), "the result for a permuted batch")
