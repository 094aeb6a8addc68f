from grader.check import check, plain, runs_without, same_values


@check("C1", share=1)
def check_small(student):
    """Strides of a small shape"""
    same_values(plain(student.steps((2, 5))), (5, 1), "steps((2, 5))")


@check("C2", share=4)
def check_alone(student):
    """Plain Python"""
    runs_without(student.steps, (2, 5))
