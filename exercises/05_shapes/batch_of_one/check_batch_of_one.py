import torch

from grader.check import after_call, assert_shape, assert_tensor, assert_true, assert_values, check, raises


@check("C1", category="shape", share=1)
def check_one_picture(student):
    """Makes a batch of one picture"""
    batch = student.as_batch(torch.arange(60.0).reshape(3, 4, 5))
    assert_tensor(batch)
    assert_shape(batch, (1, 3, 4, 5))
    assert_values(batch, torch.arange(60.0).reshape(1, 3, 4, 5))


@check("C2", category="shape", share=1)
def check_grey_picture(student):
    """Takes a grey picture out of its batch"""
    out = student.unbatch(torch.arange(20.0).reshape(1, 1, 4, 5))
    assert_tensor(out)
    assert_shape(out, (1, 4, 5))
    assert_values(out, torch.arange(20.0).reshape(1, 4, 5))


@check("C3", category="error", share=1)
def check_batch_of_two(student):
    """Refuses to unbatch two pictures"""
    raises(student.unbatch, torch.zeros(2, 1, 4, 5), error=ValueError, case="a batch of two")


@check("C5", category="memory", share=1)
def check_same_object(student):
    """Gives the picture itself the new dim"""
    img = torch.ones(3, 4, 5)
    batch = student.as_batch_(img)
    assert_tensor(batch)
    assert_true(batch is after_call(img), "the result is another tensor than img; change img itself, and return it")
    assert_shape(img, (1, 3, 4, 5), "img, afterwards,")
