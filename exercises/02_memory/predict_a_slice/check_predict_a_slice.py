from grader.check import check, is_instance, plain, require, runs_without, same_values


@check("C1", share=1)
def check_kinds(student):
    """Returns two tuples and an int"""
    window = student.sliced((3, 4), (4, 1), 0, ())
    is_instance(window, tuple, "the result")
    require(len(window) == 3, "the result is not the tuple of shape, strides and offset")
    for value, what in zip(window, ("the shape", "the strides"), strict=False):
        is_instance(value, tuple, what)
    is_instance(window[2], int, "the offset")
    same_values(window, ((3, 4), (4, 1), 0), "sliced((3, 4), (4, 1), 0, ())")


@check("C2", share=1)
def check_row(student):
    """A row, and an element"""
    same_values(plain(student.sliced((3, 4), (4, 1), 0, (1,))), ((4,), (1,), 4), "the result for t[1]")
    same_values(plain(student.sliced((3, 4), (4, 1), 0, (2, -1))), ((), (), 11), "the result for t[2, -1]")


@check("C3", share=1)
def check_crop(student):
    """Every second column of the last rows"""
    key = slice(1, None), slice(None, None, 2)
    same_values(plain(student.sliced((3, 4), (4, 1), 0, key)), ((2, 2), (4, 2), 4), "the result for t[1:, ::2]")


@check("C7", share=6)
def check_plain_python(student):
    """Plain Python, without torch and NumPy"""
    runs_without(student.sliced, (3, 4), (4, 1), 0, (1, slice(None, None, 2)))
