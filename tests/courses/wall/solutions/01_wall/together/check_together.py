from grader.check import assert_close, assert_does_not_import, assert_no_hidden_code, check, raises

SECRET = "CANARY_CHECK"


@check("C1", share=3, try_this="together((2, 3), (3,))")
def check_random(student, rng):
    """Random shapes"""
    for _ in range(4):
        shape = tuple(rng.integers(2, 9, 3))
        keep = [rng.integer(0, 1) for _ in shape]
        one = tuple(size if keep_it else 1 for size, keep_it in zip(shape, keep, strict=True))
        assert_close(student.together(one, shape), shape)
        assert_close(student.together(shape[1:], one), (one[0], *shape[1:]))


@check("C1", category="error", share=1, try_this="together((2,), (3,))")
def check_no_shape(student, rng):
    """Shapes that do not fit"""
    n = rng.integer(2, 9)
    raises(student.together, (n,), (n + 1,), error=ValueError, case="two sizes that differ")


@check("C2", share=3, try_this="look at the imports of your file")
def check_alone(student):
    """Does without PyTorch"""
    assert_does_not_import(student, "torch", "numpy")
    assert_close(student.together((5,), (5,)), (5,))


@check("C3", share=2, try_this="slope(lambda x: 3 * x)")
def check_slope(student, probe, rng):
    """The slope of a random function, which it calls"""
    factor = float(rng.integer(2, 99))
    assert_no_hidden_code(student.slope)
    assert_close(probe.slope_of(student.slope, factor), [factor, 2])
