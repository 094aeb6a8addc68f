from functools import partial

import torch

from grader.check import as_elsewhere, check, imports_no, plain, raises, require, runs_no_operation, same_values


def real(shape, strides, a, b):
    """What PyTorch itself answers."""
    t = torch.empty_strided(shape, strides).transpose(a, b)
    return tuple(t.shape), t.stride()


def asks(function, *args):
    """Asks the student, when called. Which of tuple and list an answer is has a check of its own."""
    return lambda: plain(function(*args))


def same_transpose(student, case, what, part):
    """A part of the pair is what PyTorch has."""
    pair = asks(student.transposed, *case)()
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
    for rank in (0, 1, 2, 3, 4, 5):
        sizes = sizes_of(rng, rank)
        ones = [with_size(sizes, place, 1) for place in range(rank)]
        same = [with_size(sizes, place, sizes[place - 1]) for place in range(rank)]
        for shape in (tuple(sizes), *ones, *same):
            same_values(asks(student.contiguous_strides, shape)(), torch.empty(shape).stride(), "the tuple of strides")


@check("C2", share=2, try_this="contiguous_strides((2, 0, 3)), contiguous_strides((2, 1, 3))")
def check_zero_sizes(student, rng):
    """Strides of shapes with a size of 0"""
    for rank in (1, 2, 3, 4, 5):
        sizes = sizes_of(rng, rank)
        for place in range(rank):
            also = rng.integer(0, rank - 1)
            empty, one = (with_size(with_size(sizes, place, size), also, size) for size in (0, 1))
            yours, same, other = (asks(student.contiguous_strides, shape) for shape in (empty, one, (9,) * rank))
            as_elsewhere(yours(), torch.empty(empty).stride(), same, other, "the tuple of strides for a size of 0")


@check("C3", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[0]")
def check_swapped_sizes(student, rng):
    """The shape after a transpose"""
    for case in contiguous_cases(rng):
        same_transpose(student, case, "the shape after the transpose", 0)


@check("C3", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[1]")
def check_swapped_strides(student, rng):
    """The strides after a transpose"""
    for case in contiguous_cases(rng):
        same_transpose(student, case, "the tuple of strides after the transpose", 1)


@check("C3", share=1, try_this="transposed((4, 2, 3), (100, 0, 2), 0, 1)")
def check_any_strides(student, rng):
    """Transposes any tensor, contiguous or not"""
    rows, columns = sizes_of(rng, 2)
    sliced = torch.empty(rows, 2 * columns, 4)[:, ::2]
    wide = torch.empty(rows, 1, columns).expand(rows, 9, columns)
    for t in (sliced, sliced.transpose(0, 2), wide, wide[:, None], wide[0].T, sliced[0, :, 0], torch.empty(rows)):
        for a, b in {(0, t.dim() - 1), (t.dim() - 1, t.dim() // 2), (0, 0)}:
            same_transpose(student, (tuple(t.shape), t.stride(), a, b), "the tuple of strides after the transpose", 1)


@check("C6", share=3, try_this="read your imports, and what each function calls")
def check_no_tensor(student, rng):
    """Makes no tensor and no array"""
    shape = rng.integers(1, 6, rng.integer(3, 5))
    case = shape, torch.empty(shape).stride(), 0, 2
    imports_no(student, "torch", "numpy")
    runs_no_operation((student.contiguous_strides, (shape,), case[1]), (student.transposed, case, real(*case)))


@check("C4", share=2, try_this="transposed((2, 3, 4), (12, 4, 1), -1, -3)")
def check_negative(student, rng):
    """Negative dims count from the end"""
    for shape, strides, a, b in [*list(contiguous_cases(rng))[::3], ((5,), (1,), 0, 0)]:
        c, d = a - len(shape), b - len(shape)
        yours, swap = partial(asks, student.transposed, shape, strides), real(shape, strides, a, b)
        for dims in ((c, b), (a, d), (c, d)):
            as_elsewhere(yours(*dims)(), swap, yours(a, b), yours(a, a), "the result for a negative dim")
        for dims in ((a, c), (c, a)):
            as_elsewhere(yours(*dims)(), (shape, strides), yours(a, a), yours(a, b), "the result for one dim, twice,")


@check("C5", category="error", share=1, try_this="transposed((2, 3), (3, 1), 0, 2), transposed((2, 3), (3, 1), 2, 2)")
def check_out_of_range(student, rng):
    """A dim that does not exist raises IndexError"""
    for n in (1, 2, 4):
        case = tuple(sizes_of(rng, n)), (1,) * n
        for dims in ((n, 0), (0, n), (-n - 1, 0), (0, -n - 1), (n, n), (-n - 1, -n - 1), (n, -n - 1), (0, 3 * n)):
            raises(student.transposed, *case, *dims, error=IndexError, case="a dim that does not exist")
