from grader.check import assert_close, check

SECRET = "CANARY_CHECK"


@check("C2", share=1, try_this="less(torch.ones(2, 2))")
def check_less_random(student, reference, rng):
    """One less than random numbers"""
    x = rng.normal(3, 3)
    assert_close(student.less(x), reference.less(x))
