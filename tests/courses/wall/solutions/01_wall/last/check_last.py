from grader.check import assert_close, check

SECRET = "CANARY_CHECK"


@check("C1", share=1, try_this="negate(torch.ones(2, 2))")
def check_negates_random(student, reference, rng):
    """Negates random numbers"""
    x = rng.normal(3, 3)
    assert_close(student.negate(x), reference.negate(x))
