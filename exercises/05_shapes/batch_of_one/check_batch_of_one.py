import torch

from grader.check import changed, check, is_tensor, raises, require, same_shape, same_values


@check("C1", category="shape", share=1)
def check_one_picture(student):
    """Makes a batch of one picture"""
    batch = student.as_batch(torch.arange(60.0).reshape(3, 4, 5))
    is_tensor(batch)
    same_shape(batch, (1, 3, 4, 5))
    same_values(batch, torch.arange(60.0).reshape(1, 3, 4, 5))


@check("C2", category="shape", share=1)
def check_grey_picture(student):
    """Takes a grey picture out of its batch"""
    out = student.unbatch(torch.arange(20.0).reshape(1, 1, 4, 5))
    is_tensor(out)
    same_shape(out, (1, 4, 5))
    same_values(out, torch.arange(20.0).reshape(1, 4, 5))


@check("C3", category="error", share=1)
def check_batch_of_two(student):
    """Refuses to unbatch two pictures"""
    raises(student.unbatch, torch.zeros(2, 1, 4, 5), error=ValueError, case="a batch of two")


@check("C5", category="memory", share=1)
def check_same_object(student):
    """Gives the picture itself the new dim"""
    img = torch.ones(3, 4, 5)
    batch = student.as_batch_(img)
    is_tensor(batch)
    require(batch is changed(img), "the result is another tensor than img; change img itself, and return it")
    same_shape(img, (1, 3, 4, 5), "img, afterwards,")
