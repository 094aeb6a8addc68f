from grader.check import as_tuples, assert_isinstance, assert_runs_without, assert_true, assert_values, check


@check("C1", share=1)
def check_kinds(student):
    """Returns two tuples and an int"""
    view = student.sliced((3, 4), (4, 1), 0, ())
    assert_isinstance(view, tuple, "the result")
    assert_true(len(view) == 3, "the result is not the tuple of shape, strides and offset")
    for value, what in zip(view, ("the shape", "the strides"), strict=False):
        assert_isinstance(value, tuple, what)
    assert_isinstance(view[2], int, "the offset")
    assert_values(view, ((3, 4), (4, 1), 0), "sliced((3, 4), (4, 1), 0, ())")


@check("C2", share=1)
def check_row(student):
    """A row, and an element"""
    assert_values(as_tuples(student.sliced((3, 4), (4, 1), 0, (1,))), ((4,), (1,), 4), "the result for t[1]")
    assert_values(as_tuples(student.sliced((3, 4), (4, 1), 0, (2, -1))), ((), (), 11), "the result for t[2, -1]")


@check("C3", share=1)
def check_crop(student):
    """Every second column of the last rows"""
    key = slice(1, None), slice(None, None, 2)
    assert_values(as_tuples(student.sliced((3, 4), (4, 1), 0, key)), ((2, 2), (4, 2), 4), "the result for t[1:, ::2]")


@check("C7", share=6)
def check_plain_python(student):
    """Plain Python, without torch and NumPy"""
    assert_runs_without(student.sliced, (3, 4), (4, 1), 0, (1, slice(None, None, 2)))
