from grader.check import check, same


@check("C1", share=1)
def check_column(student):
    """A column and a row"""
    same(student.together((3, 1), (1, 4)), (3, 4))
