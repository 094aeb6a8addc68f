from grader.check import as_tuples, assert_isinstance, assert_runs_without, assert_true, assert_values, check


def tuple_of_ints(value, what):
    assert_isinstance(value, tuple, what)
    for item in value:
        assert_isinstance(item, int, f"an item of {what}")


@check("C1", share=1)
def check_small(student):
    """Strides of four small shapes"""
    for shape, asked in [((4,), (1,)), ((2, 5), (5, 1)), ((1, 2, 3), (6, 3, 1)), ((), ())]:
        assert_values(as_tuples(student.contiguous_strides(shape)), asked, f"contiguous_strides({shape})")


@check("C1", share=1)
def check_tuples(student):
    """Strides are tuples of ints"""
    for shape in ((2, 5), ()):
        tuple_of_ints(student.contiguous_strides(shape), f"contiguous_strides({shape})")


@check("C3", share=1)
def check_swaps(student):
    """Swaps each two dims of a (1, 2, 3) tensor"""
    shape, strides = (1, 2, 3), (6, 3, 1)
    swaps = [(0, 1, ((2, 1, 3), (3, 6, 1))), (0, 2, ((3, 2, 1), (1, 3, 6))), (1, 2, ((1, 3, 2), (6, 1, 3)))]
    for a, b, asked in swaps:
        assert_values(
            as_tuples(student.transposed(shape, strides, a, b)), asked, f"transposed({shape}, {strides}, {a}, {b})"
        )


@check("C3", share=1)
def check_pair(student):
    """A transpose gives a pair of tuples of ints"""
    what = "transposed((2, 5), (5, 1), 0, 1)"
    pair = student.transposed((2, 5), (5, 1), 0, 1)
    assert_isinstance(pair, tuple, what)
    assert_true(len(pair) == 2, f"{what} has {len(pair)} items; expected the pair (shape, strides)")
    tuple_of_ints(pair[0], f"the shape from {what}")
    tuple_of_ints(pair[1], f"the strides from {what}")


@check("C6", share=6)
def check_plain_python(student):
    """Plain Python, without torch and NumPy"""
    assert_runs_without(student.contiguous_strides, (2, 5))
    assert_runs_without(student.transposed, (2, 5), (5, 1), 0, 1)
