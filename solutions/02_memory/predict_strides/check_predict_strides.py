import itertools

import torch

from grader.check import (
    as_elsewhere,
    check,
    plain,
    raises,
    require,
    same_values,
)


def real(shape, strides, a, b):
    """What PyTorch itself answers."""
    t = torch.empty_strided(shape, strides).transpose(a, b)
    return tuple(t.shape), t.stride()


def asks(function, *args):
    """Asks the student, when called. Which of tuple and list an answer is has a check of its own."""
    return lambda: plain(function(*args))


def same_transposes(student, cases, what, part):
    """A part of the pair is what PyTorch has."""
    for case, pair in zip(cases, map(plain, itertools.starmap(student.transposed, cases)), strict=True):
        require(isinstance(pair, tuple) and len(pair) == 2, "`transposed` returns something else than a pair")
        same_values(pair[part], real(*case)[part], what)


def sizes_of(rng, rank):
    """Different sizes above 1."""
    return (torch.randperm(6, generator=rng) + 2).tolist()[:rank]


def with_size(sizes, place, size):
    return (*sizes[:place], size, *sizes[place + 1 :])


def contiguous_cases(rng):
    """Contiguous tensors of 2 to 5 dims, the sizes different, or with a 1, or two the same; and dims in both orders."""
    for rank in (2, 3, 4, 5):
        sizes, (a, b, *_) = sizes_of(rng, rank), torch.randperm(rank, generator=rng).tolist()
        shapes = tuple(sizes), with_size(sizes, a, 1), with_size(sizes, a, sizes[b])
        for shape, dims in zip(shapes, ((a, b), (b, a), (a, b)), strict=True):
            yield shape, torch.empty(shape).stride(), *dims


@check("C1", share=2, try_this="contiguous_strides((2, 3, 4, 5))")
def check_random_shapes(student, rng):
    """Strides of random shapes of 0 to 5 dims"""
    shapes = []
    for rank in (0, 1, 2, 3, 4, 5):
        sizes = sizes_of(rng, rank)
        ones = [with_size(sizes, place, 1) for place in range(rank)]
        same = [with_size(sizes, place, sizes[place - 1]) for place in range(rank)]
        shapes += [tuple(sizes), *ones, *same]
    for shape, yours in zip(shapes, map(student.contiguous_strides, shapes), strict=True):
        same_values(plain(yours), torch.empty(shape).stride(), "the tuple of strides")


@check("C2", share=2, try_this="contiguous_strides((2, 0, 3)), contiguous_strides((2, 1, 3))")
def check_zero_sizes(student, rng):
    """Strides of shapes with a size of 0"""
    shapes = []
    for rank in (1, 2, 3, 4, 5):
        sizes = sizes_of(rng, rank)
        for place in range(rank):
            also = rng.integer(0, rank - 1)
            shapes.append([with_size(with_size(sizes, place, size), also, size) for size in (0, 1)])
    for empty, one in shapes:
        yours = student.contiguous_strides(empty)
        same, other = (asks(student.contiguous_strides, shape) for shape in (one, (9,) * len(one)))
        as_elsewhere(plain(yours), torch.empty(empty).stride(), same, other, "the tuple of strides for a size of 0")


@check("C3", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[0]")
def check_swapped_sizes(student, rng):
    """The shape after a transpose"""
    same_transposes(student, list(contiguous_cases(rng)), "the shape after the transpose", 0)


@check("C3", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[1]")
def check_swapped_strides(student, rng):
    """The strides after a transpose"""
    same_transposes(student, list(contiguous_cases(rng)), "the tuple of strides after the transpose", 1)


@check("C3", share=1, try_this="transposed((4, 2, 3), (100, 0, 2), 0, 1)")
def check_any_strides(student, rng):
    """Transposes any tensor, contiguous or not"""
    rows, columns = sizes_of(rng, 2)
    sliced = torch.empty(rows, 2 * columns, 4)[:, ::2]
    wide = torch.empty(rows, 1, columns).expand(rows, 9, columns)
    views = sliced, sliced.transpose(0, 2), wide, wide[:, None], wide[0].T, sliced[0, :, 0], torch.empty(rows)
    pairs = ((t, dims) for t in views for dims in {(0, t.dim() - 1), (t.dim() - 1, t.dim() // 2), (0, 0)})
    cases = [(tuple(t.shape), t.stride(), *dims) for t, dims in pairs]
    same_transposes(student, cases, "the tuple of strides after the transpose", 1)


@check("C4", share=2, try_this="transposed((2, 3, 4), (12, 4, 1), -1, -3)")
def check_negative(student, rng):
    """Negative dims count from the end"""
    for shape, strides, a, b in [*list(contiguous_cases(rng))[::3], ((5,), (1,), 0, 0)]:
        c, d = a - len(shape), b - len(shape)
        swap, none = (asks(student.transposed, shape, strides, a, other) for other in (b, a))
        dims = (c, b), (a, d), (c, d), (a, c), (c, a)
        *swapped, first, second = map(plain, (student.transposed(shape, strides, *pair) for pair in dims))
        for yours in swapped:
            as_elsewhere(yours, real(shape, strides, a, b), swap, none, "the result for a negative dim")
        for yours in (first, second):
            as_elsewhere(yours, (shape, strides), none, swap, "the result for one dim, twice,")


@check("C5", category="error", share=1, try_this="transposed((2, 3), (3, 1), 0, 2), transposed((2, 3), (3, 1), 2, 2)")
def check_out_of_range(student, rng):
    """A dim that does not exist raises IndexError"""
    cases = []
    for n in (1, 2, 4):
        case = tuple(sizes_of(rng, n)), (1,) * n
        pairs = (n, 0), (0, n), (-n - 1, 0), (0, -n - 1), (n, n), (-n - 1, -n - 1), (n, -n - 1), (0, 3 * n)
        cases += [(*case, *dims) for dims in pairs]
    for case in cases:
        raises(student.transposed, *case, error=IndexError, case="a dim that does not exist")
