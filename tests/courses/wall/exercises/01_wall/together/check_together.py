from grader.check import assert_close, check


@check("C1", share=1)
def check_column(student):
    """A column and a row"""
    assert_close(student.together((3, 1), (1, 4)), (3, 4))
