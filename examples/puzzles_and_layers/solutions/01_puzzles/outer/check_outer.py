from grader.check import assert_close, assert_no_loop, check


@check("C1", share=3, try_this="outer(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 3.0, 7.0]))")
def check_random(student, reference, rng):
    """Random vectors of two lengths"""
    a, b = rng.normal(rng.integer(2, 4)), rng.normal(rng.integer(5, 8))
    assert_close(student.outer(a, b), reference.outer(a, b))


@check("C2", category="performance", share=2, try_this="look for a `for` in your function")
def check_no_loop(student, rng):
    """No loop"""
    assert_no_loop(student.outer, (rng.normal(3), rng.normal(4)), (rng.normal(100), rng.normal(150)))
