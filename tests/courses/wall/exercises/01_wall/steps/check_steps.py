from grader.check import as_tuples, assert_runs_without, assert_values, check


@check("C1", share=1)
def check_small(student):
    """Strides of a small shape"""
    assert_values(as_tuples(student.steps((2, 5))), (5, 1), "steps((2, 5))")


@check("C2", share=4)
def check_alone(student):
    """Plain Python"""
    assert_runs_without(student.steps, (2, 5))
