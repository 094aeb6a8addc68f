import torch

from grader.check import as_tuples, assert_values, calling, check, raises


def same_shape_as_torch(student, a, b):
    """The shape is PyTorch's, whichever of the two comes first."""
    asked = tuple((torch.empty(a) + torch.empty(b)).shape)
    for one, other in ((a, b), (b, a)):
        with calling(student.broadcast, one, other) as shape:
            assert_values(as_tuples(shape), asked, "the shape")


def refuses(student, a, b, case):
    """The two do not fit, whichever comes first."""
    raises(student.broadcast, a, b, error=ValueError, case=case)
    raises(student.broadcast, b, a, error=ValueError, case=case)


def with_size(shape, dim, size):
    return (*shape[:dim], size, *shape[dim + 1 :])


@check("C2", share=3, try_this="broadcast((4, 5, 6, 7), (6, 7)), broadcast((7,), (6, 7))")
def check_ranks(student, rng):
    """Shapes with different numbers of dims"""
    for rank in (2, 3, 4, 5):
        shape = rng.sizes(rank, 2, 8)
        for kept in {1, rng.integer(1, rank - 1), rank - 1}:
            same_shape_as_torch(student, shape, shape[-kept:])
            same_shape_as_torch(student, with_size(shape, 0, 1), shape[-kept:])  # a 1 in front stays


@check("C3", share=3, try_this="broadcast((4, 1, 6), (1, 5, 6)), broadcast((1, 1), (1, 7))")
def check_ones(student, rng):
    """A size of 1 stretches, on either side"""
    for rank in (1, 2, 3, 4, 5):
        shape, hole = rng.sizes(rank, 2, 8), rng.integer(0, rank - 1)
        a = tuple(1 if dim == hole or rng.boolean() else size for dim, size in enumerate(shape))
        b = tuple(size if kept == 1 or rng.boolean() else 1 for size, kept in zip(shape, a, strict=True))
        same_shape_as_torch(student, shape, a)
        same_shape_as_torch(student, a, with_size(b, 0, shape[0]))  # two ones in front are for C2
    ones = (1,) * rng.integer(2, 4)
    same_shape_as_torch(student, (7, *ones), (7, *ones))


@check("C4", category="error", share=3, try_this="broadcast((4, 5, 6), (4, 3, 6)), broadcast((4,), (2,))")
def check_one_misfit(student, rng):
    """One pair of sizes that does not fit, at any dim"""
    for rank in (1, 2, 3, 4):
        for dim in range(rank):
            a = rng.sizes(rank, 2, 8)
            for other in (a[dim] + rng.integer(1, 5), 2 * a[dim], 3 * a[dim]):  # nothing is repeated to fill a multiple
                refuses(student, a, with_size(a, dim, other), "sizes that do not fit")
    x, y, z = rng.sizes(3, 2, 8)
    for a, b in (((x, y, z), (y, z, x)), ((x, y), (y, x))):
        refuses(student, a, b, "shapes that do not fit, of equally many elements")


@check("C4", category="error", share=1, try_this="broadcast((4, 3), (4, 0))")
def check_zero_misfits(student, rng):
    """A size of 0 meets a larger one than 1"""
    for rank in (1, 2, 3):
        sizes = rng.sizes(rank, 2, 8)
        for dim in range(rank):
            refuses(student, sizes, with_size(sizes, dim, 0), "a size of 0 where the other has more than 1")


@check("C5", share=1, try_this="broadcast((4, 0), (1, 0)), broadcast((5, 1), (5, 0))")
def check_zero_sizes(student, rng):
    """A size of 0 meets a 1 or another 0"""
    for rank in (1, 2, 3, 4):
        sizes, dim = rng.sizes(rank, 2, 8), rng.integer(0, rank - 1)
        empty = with_size(sizes, dim, 0)
        same_shape_as_torch(student, empty, with_size(sizes, dim, 1))
        same_shape_as_torch(student, empty, empty)


@check("C5", share=1, try_this="broadcast((), (4, 5)), broadcast((), ())")
def check_no_dims(student, rng):
    """A 0-dim tensor with any other"""
    for rank in (0, 1, 2, 5):
        same_shape_as_torch(student, rng.sizes(rank, 2, 8), ())
