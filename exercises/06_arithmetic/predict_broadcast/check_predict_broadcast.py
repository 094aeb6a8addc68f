from grader.check import as_tuples, assert_isinstance, assert_runs_without, assert_values, check, raises


@check("C1", share=1)
def check_tuple(student):
    """Returns a tuple of ints"""
    shape = student.broadcast((2, 3), (2, 3))
    assert_isinstance(shape, tuple)
    assert_values(shape, (2, 3), "broadcast((2, 3), (2, 3))")
    for size in shape:
        assert_isinstance(size, int, "an item of the result")


@check("C3", share=1)
def check_stretched(student):
    """Stretches a column, a row, and both"""
    for a, b, asked in [((4, 3, 2), (1, 3, 1), (4, 3, 2)), ((1, 5), (2, 5), (2, 5)), ((3, 1), (1, 4), (3, 4))]:
        assert_values(as_tuples(student.broadcast(a, b)), asked, f"broadcast({a}, {b})")


@check("C2", share=1)
def check_fewer_dims(student):
    """Lines a layer up with the last dims of a block of layers"""
    assert_values(as_tuples(student.broadcast((4, 3, 2), (3, 2))), (4, 3, 2), "broadcast((4, 3, 2), (3, 2))")
    assert_values(as_tuples(student.broadcast((2,), (4, 3, 2))), (4, 3, 2), "broadcast((2,), (4, 3, 2))")


@check("C4", category="error", share=1)
def check_misfits(student):
    """Refuses shapes that do not fit"""
    for a, b in [((2, 3), (3, 2)), ((4, 3, 2), (4, 2, 3)), ((2,), (3,))]:
        raises(student.broadcast, a, b, error=ValueError, case=f"{a} and {b}")


@check("C5", share=1)
def check_corners(student):
    """A single number and an empty tensor take part"""
    assert_values(as_tuples(student.broadcast((2, 3), ())), (2, 3), "broadcast((2, 3), ())")
    assert_values(as_tuples(student.broadcast((0,), (1,))), (0,), "broadcast((0,), (1,))")


@check("C6", share=3)
def check_plain_python(student):
    """Plain Python, without torch and NumPy"""
    assert_runs_without(student.broadcast, (4, 3, 1), (3, 2))
