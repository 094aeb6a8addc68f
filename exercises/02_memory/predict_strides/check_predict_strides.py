from grader.check import check, is_instance, plain, require, runs_without, same_values


def tuple_of_ints(value, what):
    is_instance(value, tuple, what)
    for item in value:
        is_instance(item, int, f"an item of {what}")


@check("C1", share=1)
def check_small(student):
    """Strides of four small shapes"""
    for shape, asked in [((4,), (1,)), ((2, 5), (5, 1)), ((1, 2, 3), (6, 3, 1)), ((), ())]:
        same_values(plain(student.contiguous_strides(shape)), asked, f"contiguous_strides({shape})")


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
        same_values(plain(student.transposed(shape, strides, a, b)), asked, f"transposed({shape}, {strides}, {a}, {b})")


@check("C3", share=1)
def check_pair(student):
    """A transpose gives a pair of tuples of ints"""
    what = "transposed((2, 5), (5, 1), 0, 1)"
    pair = student.transposed((2, 5), (5, 1), 0, 1)
    is_instance(pair, tuple, what)
    require(len(pair) == 2, f"{what} has {len(pair)} items; expected the pair (shape, strides)")
    tuple_of_ints(pair[0], f"the shape from {what}")
    tuple_of_ints(pair[1], f"the strides from {what}")


@check("C6", share=6)
def check_plain_python(student):
    """Plain Python, without torch and NumPy"""
    runs_without(student.contiguous_strides, (2, 5))
    runs_without(student.transposed, (2, 5), (5, 1), 0, 1)
