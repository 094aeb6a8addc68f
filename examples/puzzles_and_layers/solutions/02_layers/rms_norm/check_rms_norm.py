import torch

from grader.check import (
    assert_dtype,
    assert_isinstance,
    assert_parameters,
    assert_parameters_get_gradients,
    assert_values,
    check,
    load_weights,
)


@check("C1", share=2, try_this="dict(RMSNorm(3).named_parameters())")
def check_parameters(student):
    """One parameter, of ones"""
    norm = student.RMSNorm(6)
    assert_isinstance(norm, torch.nn.Module)
    assert_parameters(norm, {"weight": (6,)})
    assert_values(norm.weight, torch.ones(6), "weight")


@check("C2", share=3, try_this="RMSNorm(3)(torch.tensor([[0.01, 0.02, 0.03]]))")
def check_random(student, reference, rng):
    """Random weights, and rows that are small, too"""
    norm, expected = student.RMSNorm(5), reference.RMSNorm(5)
    expected.load_state_dict({"weight": rng.normal(5)})
    load_weights(norm, expected)
    for scale in (1.0, 0.01):
        x = rng.normal(2, 3, 5) * scale + scale
        assert_values(norm(x), expected(x))


@check("C1", category="gradient", share=1, try_this="RMSNorm(3)(torch.randn(2, 3)).grad_fn")
def check_learns(student, rng):
    """The weight gets a gradient"""
    assert_parameters_get_gradients(student.RMSNorm(4), rng.normal(3, 4))


@check("C3", category="dtype", share=2, try_this="RMSNorm(2)(torch.full((1, 2), 300.0).half())")
def check_half(student):
    """Large numbers in float16"""
    found = student.RMSNorm(4)(torch.full((2, 4), 1000.0, dtype=torch.float16))
    assert_dtype(found, torch.float16)
    assert_values(found, torch.ones(2, 4), rtol=1e-2, atol=1e-2)
