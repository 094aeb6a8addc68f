import torch

from grader.check import calling, check, imports_no, is_instance, plain, raises, require, runs_no_operation, same_values


def same_strides(student, shape):
    """The strides are those that PyTorch has."""
    with calling(student.contiguous_strides, shape) as strides:
        same_values(plain(strides), torch.empty(shape).stride(), "the tuple of strides")


def same_transpose(student, shape, strides, dims, what, part=slice(None)):
    """The pair, or a part of it, is what PyTorch has."""
    with calling(student.transposed, shape, strides, *dims) as pair:
        yours = plain(pair)  # which of tuple and list it is has a check of its own
        is_instance(yours, tuple, "the result of `transposed`")
        require(len(yours) == 2, f"`transposed` returns {len(yours)} items, the pair (shape, strides) is asked")
        same_values(yours[part], real(shape, strides, *dims)[part], what)


def real(shape, strides, a, b):
    """What PyTorch itself answers."""
    turned = torch.empty_strided(shape, strides).transpose(a, b)
    return tuple(turned.shape), turned.stride()


def contiguous_cases(rng):
    """Contiguous tensors of 2 to 5 dims of different sizes, with two dims each."""
    for rank in (2, 3, 4, 5, 3):
        sizes = (torch.randperm(6, generator=rng) + 2).tolist()
        shape = tuple(sizes[:rank])
        yield shape, torch.empty(shape).stride(), torch.randperm(rank, generator=rng).tolist()[:2]


@check("C1", share=3, try_this="contiguous_strides((2, 3, 4, 5))")
def check_random_shapes(student, rng):
    """Strides of random shapes of 0 to 5 dims"""
    for rank in (0, 1, 2, 3, 4, 5):
        same_strides(student, rng.integers(1, 6, rank))


@check("C2", share=2, try_this="contiguous_strides((2, 0, 3))")
def check_zero_sizes(student, rng):
    """Strides of shapes with a size of 0"""
    for rank in (1, 2, 3, 4, 5):
        sizes = list(rng.integers(2, 6, rank))
        sizes[rng.integer(rank // 2, rank - 1)] = 0
        if rank == 5:
            sizes[1] = 0
        same_strides(student, tuple(sizes))


@check("C3", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[0]")
def check_swapped_sizes(student, rng):
    """The shape after a transpose"""
    for case in contiguous_cases(rng):
        same_transpose(student, *case, "the shape after the transpose", part=0)


@check("C3", share=2, try_this="transposed((2, 3, 4), (12, 4, 1), 2, 0)[1]")
def check_swapped_strides(student, rng):
    """The strides after a transpose"""
    for case in contiguous_cases(rng):
        same_transpose(student, *case, "the tuple of strides after the transpose", part=1)


@check("C3", share=1, try_this="transposed((4, 2, 3), (100, 0, 2), 0, 1)")
def check_any_strides(student, rng):
    """Transposes tensors that are not contiguous"""
    rows, columns = rng.integers(3, 6, 2)
    sliced = torch.empty(rows, 2 * columns, 4)[:, ::2]
    for t in (sliced, sliced.transpose(0, 2), torch.empty(rows, 1, columns).expand(rows, 7, columns)):
        for dims in ((0, 1), (2, 0), (1, 2), (1, 1)):
            what = "the tuple of strides after the transpose"
            same_transpose(student, tuple(t.shape), t.stride(), dims, what, part=1)


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


@check("C4", share=1, try_this="transposed((2, 3, 4), (12, 4, 1), -1, -3)")
def check_negative(student, rng):
    """Negative dims count from the end"""
    for shape, strides, (a, b) in contiguous_cases(rng):
        for dims in ((a - len(shape), b), (a, b - len(shape)), (a - len(shape), b - len(shape))):
            same_transpose(student, shape, strides, dims, "the result for a negative dim")


@check("C5", category="error", share=1, try_this="transposed((2, 3), (3, 1), 0, 2)")
def check_out_of_range(student, rng):
    """A dim that does not exist raises IndexError"""
    for rank in (1, 2, 4):
        shape = rng.integers(2, 6, rank)
        strides = torch.empty(shape).stride()
        for dims in ((rank, 0), (0, rank), (-rank - 1, 0), (0, -rank - 1)):
            raises(student.transposed, shape, strides, *dims, error=IndexError, case="a dim that does not exist")
