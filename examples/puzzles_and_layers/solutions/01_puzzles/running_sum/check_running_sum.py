from grader.check import assert_no_loop, assert_true, assert_values, check, count_ops


@check("C1", share=3, try_this="running_sum(torch.tensor([5.0, -1.0, 2.0]))")
def check_random(student, rng):
    """Random vectors"""
    x = rng.normal(rng.integer(5, 9))
    asked = x.cumsum(0)
    assert_values(student.running_sum(x), asked, rtol=1e-4, atol=1e-5)


@check("C2", category="performance", share=2, try_this="look for a `for` or `cumsum` in your function")
def check_no_loop(student, rng):
    """Neither a loop nor cumsum"""
    assert_no_loop(student.running_sum, (rng.normal(4),), (rng.normal(150),))
    called = count_ops(student.running_sum, rng.normal(4))
    assert_true(not any("cumsum" in name for name in called), "cumsum is called")
