import torch

from grader.check import calling, check, plain, raises, same_values


def same_shape_as_torch(student, a, b):
    """The shape is PyTorch's, whichever of the two comes first."""
    asked = tuple((torch.empty(a) + torch.empty(b)).shape)
    for one, other in ((a, b), (b, a)):
        with calling(student.broadcast, one, other) as shape:
            same_values(plain(shape), asked, "the shape")


def different_sizes(rng, rank):
    """Sizes of at least 2, no two of them equal."""
    return tuple((torch.randperm(7, generator=rng) + 2).tolist()[:rank])


def holes(rng, rank):
    """True at some dims, at one or more."""
    chosen = [bool(rng.integer(0, 1)) for _ in range(rank)]
    chosen[rng.integer(0, rank - 1)] = True
    return chosen


@check("C2", share=3, try_this="broadcast((4, 5, 6, 7), (6, 7)), broadcast((7,), (6, 7))")
def check_ranks(student, rng):
    """Shapes with different numbers of dims"""
    for rank in (2, 3, 4, 5):
        shape = different_sizes(rng, rank)
        for kept in {1, rng.integer(1, rank - 1), rank - 1}:
            same_shape_as_torch(student, shape, shape[-kept:])
            same_shape_as_torch(student, (1, *shape[1:]), shape[-kept:])  # a 1 in front stays


@check("C3", share=3, try_this="broadcast((4, 1, 6), (1, 5, 6)), broadcast((1, 1), (1, 7))")
def check_ones(student, rng):
    """A size of 1 stretches, on either side"""
    for rank in (1, 2, 3, 4, 5):
        shape = different_sizes(rng, rank)
        a = tuple(1 if hole else size for size, hole in zip(shape, holes(rng, rank), strict=True))
        b = tuple(
            1 if hole and dim and size == kept else size  # no two of them in front, which is for C2
            for dim, (size, kept, hole) in enumerate(zip(shape, a, holes(rng, rank), strict=True))
        )
        same_shape_as_torch(student, shape, a)
        same_shape_as_torch(student, a, b)
    ones = (1,) * rng.integer(2, 4)
    same_shape_as_torch(student, (7, *ones), (7, *ones))


@check("C4", category="error", share=3, try_this="broadcast((4, 5, 6), (4, 3, 6)), broadcast((4,), (2,))")
def check_one_misfit(student, rng):
    """One pair of sizes that does not fit, at any dim"""
    cases = []
    for rank in (1, 2, 3, 4):
        for dim in range(rank):
            a = different_sizes(rng, rank)
            others = [a[dim] + rng.integer(1, 5), 2 * a[dim], 3 * a[dim]]  # a size is not repeated to fill a multiple
            for other in others:
                b = (*a[:dim], other, *a[dim + 1 :])
                cases += [(a, b), (b, a)]
    for case in cases:
        raises(student.broadcast, *case, error=ValueError, case="sizes that do not fit")
    a = different_sizes(rng, 3)
    cases = [(a, (a[1], a[2], a[0])), ((a[0], a[1]), (a[1], a[0]))]
    for case in cases:
        raises(student.broadcast, *case, error=ValueError, case="shapes that do not fit, of equally many elements")


@check("C4", category="error", share=1, try_this="broadcast((4, 3), (4, 0))")
def check_zero_misfits(student, rng):
    """A size of 0 meets a larger one than 1"""
    cases = []
    for rank in (1, 2, 3):
        sizes = different_sizes(rng, rank)
        for dim in range(rank):
            empty = (*sizes[:dim], 0, *sizes[dim + 1 :])
            cases += [(sizes, empty), (empty, sizes)]
    for case in cases:
        raises(student.broadcast, *case, error=ValueError, case="a size of 0 where the other has more than 1")


@check("C5", share=1, try_this="broadcast((4, 0), (1, 0)), broadcast((5, 1), (5, 0))")
def check_zero_sizes(student, rng):
    """A size of 0 meets a 1 or another 0"""
    for rank in (1, 2, 3, 4):
        sizes = different_sizes(rng, rank)
        dim = rng.integer(0, rank - 1)
        empty, single = ((*sizes[:dim], size, *sizes[dim + 1 :]) for size in (0, 1))
        same_shape_as_torch(student, empty, single)
        same_shape_as_torch(student, empty, empty)


@check("C5", share=1, try_this="broadcast((), (4, 5)), broadcast((), ())")
def check_no_dims(student, rng):
    """A 0-dim tensor with any other"""
    for rank in (0, 1, 2, 5):
        same_shape_as_torch(student, different_sizes(rng, rank), ())
