import torch

from grader.check import (
    assert_keeps_graph,
    assert_no_hidden_code,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_values,
    check,
    gradients,
    raises,
)


@check("C1", share=2)
def check_same_shapes(student):
    """A 0-dim tensor with the mean, for shapes that are equal"""
    for shape in ((2,), (2, 1)):
        loss = student.mse(torch.tensor([3.0, 1.0]).reshape(shape), torch.tensor([5.0, 1.0]).reshape(shape))
        assert_tensor(loss)
        assert_shape(loss, ())
        assert_values(loss, torch.tensor(2.0), f"the mean for two tensors of shape {shape}")
    assert_no_hidden_code(student.mse)  # hidden checks cannot judge code that hides what it does


@check("C2", share=1)
def check_column_and_vector(student):
    """A column meets a vector entry by entry"""
    for one, other in (((3, 1), (3,)), ((3,), (3, 1))):
        pred, target = (torch.tensor([1.0, 2.0, 4.0]).reshape(shape) for shape in (one, other))
        loss = float(student.mse(pred, target))
        wrong = f"shapes {one} and {other}: each prediction equals its target, and still the mean is {loss:.4g}, not 0"
        assert_true(loss == 0, f"{wrong}; print (pred - target).shape")


@check("C3", category="error", share=1)
def check_one_for_all(student):
    """One target for three predictions is a mistake"""
    three, two, one = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([1.0, 2.0]), torch.tensor([2.0])
    raises(student.mse, three, one, error=ValueError, case="3 predictions and 1 target")
    raises(student.mse, one[None], two, error=ValueError, case="1 prediction and 2 targets")


@check("C5", category="gradient", share=1)
def check_gradient(student):
    """The gradient pulls a prediction to its target"""
    pred, target = torch.tensor([3.0, 1.0]), torch.tensor([5.0, 1.0])
    assert_keeps_graph(student.mse, pred, target)
    assert_values(gradients(student.mse, pred, target)[0], torch.tensor([-2.0, 0.0]), "the gradient of pred")
