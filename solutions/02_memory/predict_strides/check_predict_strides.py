import torch

from grader.check import (
    agrees,
    calling,
    check,
    imports_no,
    is_instance,
    plain,
    raises,
    require,
    runs_no_operation,
    same_values,
)


def real(shape, strides, a, b):
    """What PyTorch itself answers."""
    turned = torch.empty_strided(shape, strides).transpose(a, b)
    return tuple(turned.shape), turned.stride()


def same_transpose(student, case, what, part):
    """A part of the pair is what PyTorch has. Which of tuple and list it is has a check of its own."""
    with calling(student.transposed, *case) as pair:
        yours = plain(pair)
        is_instance(yours, tuple, "the result of `transposed`")
        require(len(yours) == 2, f"`transposed` returns {len(yours)} items, the pair (shape, strides) is asked")
        same_values(yours[part], real(*case)[part], what)


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
            with calling(student.contiguous_strides, shape) as strides:
                same_values(plain(strides), torch.empty(shape).stride(), "the tuple of strides")


@check("C2", share=2, try_this="contiguous_strides((2, 0, 3)), contiguous_strides((2, 1, 3))")
def check_zero_sizes(student, rng):
    """Strides of shapes with a size of 0"""
    for rank in (1, 2, 3, 4, 5):
        sizes = sizes_of(rng, rank)
        for place in range(rank):
            also = rng.integer(0, rank - 1)
            empty, one = (with_size(with_size(sizes, place, size), also, size) for size in (0, 1))
            yours = plain(student.contiguous_strides(empty))
            if agrees(yours, torch.empty(empty).stride()):
                continue
            # What is wrong for a size of 1 as well is for C1.
            is_instance(yours, tuple, "the result")
            require(rank < 4 or len(set(yours)) > 1, "the strides of a shape with a size of 0 are all the same")
            same_values(yours, plain(student.contiguous_strides(one)), "the tuple of strides for a size of 0")


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
            case = tuple(t.shape), t.stride(), a, b
            same_transpose(student, case, "the tuple of strides after the transpose", 1)


@check("C6", share=3, try_this="read your imports, and what each function calls")
def check_no_tensor(student, rng):
    """Makes no tensor and no array"""
    shape = rng.integers(1, 6, rng.integer(3, 5))
    strides = torch.empty(shape).stride()
    imports_no(student, "torch", "numpy")
    runs_no_operation(
        (student.contiguous_strides, (shape,), strides),
        (student.transposed, (shape, strides, 0, 2), real(shape, strides, 0, 2)),
    )


@check("C4", share=2, try_this="transposed((2, 3, 4), (12, 4, 1), -1, -3)")
def check_negative(student, rng):
    """Negative dims count from the end"""
    for shape, strides, a, b in [*list(contiguous_cases(rng))[::3], ((5,), (3,), 0, 0)]:
        c, d = a - len(shape), b - len(shape)
        for dims, front in {(c, b): (a, b), (a, d): (a, b), (c, d): (a, b), (a, c): (a, a), (c, a): (a, a)}.items():
            yours = plain(student.transposed(shape, strides, *dims))
            if agrees(yours, real(shape, strides, *front)):
                continue
            # What is wrong for dims from the front as well is for C3.
            require(front == (a, a) or yours != (shape, strides), "negative dims make no difference")
            same_values(yours, plain(student.transposed(shape, strides, *front)), "the result for a negative dim")


@check("C5", category="error", share=1, try_this="transposed((2, 3), (3, 1), 0, 2), transposed((2, 3), (3, 1), 2, 2)")
def check_out_of_range(student, rng):
    """A dim that does not exist raises IndexError"""
    for n in (1, 2, 4):
        shape = tuple(sizes_of(rng, n))
        strides = torch.empty(shape).stride()
        for dims in ((n, 0), (0, n), (-n - 1, 0), (0, -n - 1), (n, n), (-n - 1, -n - 1), (n, -n - 1), (0, 3 * n)):
            raises(student.transposed, shape, strides, *dims, error=IndexError, case="a dim that does not exist")
