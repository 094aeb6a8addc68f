import torch

from grader.check import (
    assert_close,
    assert_cpu_time_ratio,
    assert_no_loop,
    assert_true,
    assert_values,
    check,
    gradients,
)

SECRET = "CANARY_CHECK"


@check("C1", share=2, try_this="total(torch.ones(6))")
def check_fresh(student, rng):
    """Sums again and again, other numbers each time"""
    for _ in range(4):
        x = rng.normal(6)
        assert_values(student.total(x), x.sum())


@check("C2", category="performance", share=2, try_this="total(torch.ones(1000))")
def check_counts(student, rng):
    """No Python loop: by counts, with what is seen from outside"""
    assert_no_loop(student.total, (rng.normal(20),), (rng.normal(200),))
    assert_no_loop(student.total, (rng.normal(20),), (rng.normal(10_000),))


@check("C2", category="performance", share=1, try_this="total(torch.ones(1000))")
def check_speed(student, reference, rng):
    """No Python loop: by time"""
    assert_cpu_time_ratio(
        student.total, reference.total, lambda n: (rng.normal(n),), size=300_000, at_most=10, rtol=1e-3, atol=1
    )


@check("C3", category="gradient", share=1, try_this="total(torch.ones(3, requires_grad=True)).backward()")
def check_gradient(student, rng):
    """Keeps gradients"""
    (grad,) = gradients(student.total, rng.normal(5))
    assert_true(grad is not None, "the result of `total` has no gradient")
    assert_values(grad, torch.ones(5), "the gradient")


@check("C4", share=1, try_this="mean(torch.ones(6))")
def check_means_random(student, rng):
    """Averages random numbers"""
    x = rng.normal(7)
    assert_close(student.mean(x), x.mean())
