import torch

from grader.check import as_tuples, assert_true, assert_values, assert_values_unless_wrong_elsewhere, check, raises


def real(shape, strides, a, b):
    """What PyTorch itself answers."""
    t = torch.empty_strided(shape, strides).transpose(a, b)
    return tuple(t.shape), t.stride()


def asks(function, *args):
    """Asks the student, when called. Which of tuple and list an answer is has a check of its own."""
    return lambda: as_tuples(function(*args))


def same_transposes(student, cases):
    for case in cases:
        pair = asks(student.transposed, *case)()
        assert_true(isinstance(pair, tuple) and len(pair) == 2, "`transposed` returns something else than a pair")
        assert_values(pair[0], real(*case)[0], "the shape after the transpose")
        assert_values(pair[1], real(*case)[1], "the tuple of strides after the transpose")


def shapes(rng, *ranks):
    """Shapes with sizes that differ, with a 1 in each place, and with the same size twice."""
    for rank in ranks:
        sizes = (torch.randperm(6, generator=rng) + 2).tolist()[:rank]
        yield tuple(sizes)
        for place in range(rank):
            for size in (1, sizes[place - 1]):
                yield (*sizes[:place], size, *sizes[place + 1 :])


def contiguous_cases(rng, *ranks):
    """Contiguous tensors of at least two dims, and two of these in any order."""
    for shape in shapes(rng, *ranks):
        a, b, *_ = torch.randperm(len(shape), generator=rng).tolist()
        yield shape, torch.empty(shape).stride(), a, b


@check("C1", share=2, try_this="contiguous_strides((2, 3, 4, 5))")
def check_random_shapes(student, rng):
    """Strides of random shapes of 0 to 5 dims"""
    for shape in shapes(rng, 0, 1, 2, 3, 4, 5):
        assert_values(as_tuples(student.contiguous_strides(shape)), torch.empty(shape).stride(), "the tuple of strides")


@check("C2", share=2, try_this="contiguous_strides((2, 0, 3)), contiguous_strides((2, 1, 3))")
def check_zero_sizes(student, rng):
    """Strides of shapes with a size of 0"""
    for shape in shapes(rng, 1, 2, 3, 4, 5):
        chosen = rng.choice(shape)
        empty, one = (tuple(small if size in (1, chosen) else size for size in shape) for small in (0, 1))
        yours = as_tuples(student.contiguous_strides(empty))
        same, other = (asks(student.contiguous_strides, shape) for shape in (one, (9,) * len(one)))
        assert_values_unless_wrong_elsewhere(
            yours, torch.empty(empty).stride(), same, other, "the tuple of strides for a size of 0"
        )


@check("C3", share=2, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)")
def check_swapped(student, rng):
    """The shape and the strides after a transpose"""
    same_transposes(student, contiguous_cases(rng, 2, 3, 4, 5))


@check("C3", share=1, try_this="transposed((4, 2, 3), (100, 0, 2), 0, 1)")
def check_any_strides(student, rng):
    """Transposes any tensor, contiguous or not"""
    rows, columns = rng.sizes(2)
    sliced = torch.empty(rows, 2 * columns, 4)[:, ::2]
    wide = torch.empty(rows, 1, columns).expand(rows, 9, columns)
    for t in (sliced, sliced.transpose(0, 2), wide, wide[:, None], wide[0].T, sliced[0, :, 0], torch.empty(rows)):
        last = t.dim() - 1
        same_transposes(student, [(t.shape, t.stride(), *dims) for dims in ((0, last), (last, t.dim() // 2), (0, 0))])


@check("C4", share=2, try_this="transposed((2, 3, 4), (12, 4, 1), -1, -3)")
def check_negative(student, rng):
    """Negative dims count from the end"""
    for shape, strides, a, b in (*(next(contiguous_cases(rng, rank)) for rank in (2, 3, 4, 5)), ((5,), (1,), 0, 0)):
        c, d = a - len(shape), b - len(shape)
        swap, none = (asks(student.transposed, shape, strides, a, other) for other in (b, a))
        for dims in ((c, b), (a, d), (c, d)):
            yours = as_tuples(student.transposed(shape, strides, *dims))
            assert_values_unless_wrong_elsewhere(
                yours, real(shape, strides, a, b), swap, none, "the result for a negative dim"
            )
        for dims in ((a, c), (c, a)):
            yours = as_tuples(student.transposed(shape, strides, *dims))
            assert_values_unless_wrong_elsewhere(yours, (shape, strides), none, swap, "the result for one dim, twice,")


@check("C5", category="error", share=1, try_this="transposed((2, 3), (3, 1), 0, 2), transposed((2, 3), (3, 1), 2, 2)")
def check_out_of_range(student):
    """A dim that does not exist raises IndexError"""
    for n in (1, 2, 4):
        for dims in ((n, 0), (0, n), (-n - 1, 0), (0, -n - 1), (n, n), (-n - 1, -n - 1), (n, -n - 1), (0, 3 * n)):
            # Different sizes, so that a dim taken for another one shows where nothing is raised.
            shape, strides = tuple(range(2, n + 2)), tuple(range(7, n + 7))
            raises(student.transposed, shape, strides, *dims, error=IndexError, case="a dim that does not exist")
