import torch

from grader.check import as_tuples, assert_isinstance, assert_true, assert_values, check, raises


def real(shape, strides, offset, key):
    """What PyTorch itself answers."""
    needed = 1 + offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True) if size)
    t = torch.empty(max(needed, 1)).as_strided(shape, strides, offset)[key]
    return tuple(t.shape), t.stride(), t.storage_offset()


def same_view(student, case):
    """Shape, strides and offset are PyTorch's, but for the strides of dims that None makes."""
    shape, strides, offset = real(*case)
    view = as_tuples(student.sliced(*case))
    assert_true(isinstance(view, tuple) and len(view) == 3, "the result is not the tuple of shape, strides and offset")
    assert_values(view[0], shape, "the shape")
    for stride in view[1]:
        assert_isinstance(stride, int, "a stride")
    assert_true(len(view[1]) == len(strides), "there is not one stride for each dim")
    new = new_dims(case[3], len(case[0]))
    kept = [[stride for dim, stride in enumerate(each) if dim not in new] for each in (view[1], strides)]
    assert_values(tuple(kept[0]), tuple(kept[1]), "the tuple of strides")
    assert_values(view[2], offset, "the offset")


def new_dims(key, rank):
    """Which dims of the result None makes."""
    places, dim = [], 0
    used = sum(isinstance(item, (int, slice)) for item in key)
    for item in key:
        if item is None:
            places.append(dim)
        dim += rank - used if item is ... else not isinstance(item, int)
    return places


def views(rng, least=1):
    """Shapes of several ranks, with strides of contiguous tensors and others, and an offset."""
    for rank in range(least, 6):
        shape = tuple(rng.integer(2, 6) for _ in range(rank))
        yield shape, torch.empty(shape).stride(), rng.integer(1, 9)
        yield shape, rng.integers(0, 30, rank), rng.integer(1, 9)


def some_slice(rng, size):
    """A slice, most with a start or a stop that is negative, beyond the ends, or None."""
    choices = [None, *range(-size - 2, size + 3)]
    return slice(rng.choice(choices), rng.choice(choices), rng.choice([None, 1, 2, 3]))


@check("C2", share=6, try_this="sliced((3, 4), (1, 3), 5, (-3,)), sliced((2, 3, 4), (12, 4, 1), 7, (1, 2, 3))")
def check_ints(student, rng):
    """Picks entries by ints, also negative ones"""
    for shape, strides, offset in views(rng):
        for count in range(1, len(shape) + 1):
            key = tuple(rng.integer(-size, size - 1) for size in shape[:count])
            same_view(student, (shape, strides, offset, key))
        same_view(student, (shape, strides, offset, (-shape[0],)))


@check("C3", share=9, try_this="sliced((7,), (3,), 2, (slice(-5, -1, 2),)), sliced((7,), (3,), 2, (slice(-9, 99, 4),))")
def check_slices(student, rng):
    """Slices with starts, stops and steps of all kinds"""
    for shape, strides, offset in views(rng):
        for _ in range(6):
            key = tuple(some_slice(rng, size) for size in shape[: rng.integer(1, len(shape))])
            if 0 not in real(shape, strides, offset, key)[0]:
                same_view(student, (shape, strides, offset, key))
    for ends in ((-5, -1, 2), (-9, 99, 4), (1, None, 3), (None, -2), (2, 3, 9)):
        same_view(student, ((7,), (3,), 2, (slice(*ends),)))


@check("C3", share=3, try_this="sliced((7,), (3,), 0, (slice(5, 2),)), sliced((7,), (3,), 0, (slice(9, None),))")
def check_nothing(student, rng):
    """Slices that take nothing, and dims of size 0"""
    for ends in ((5, 2), (9, None), (2, 2), (None, -9), (-2, -5, 2), (None, 0), (3, 0)):
        same_view(student, ((7,), (3,), rng.integer(1, 9), (slice(*ends),)))
    for shape, key in (((0,), (slice(None),)), ((2, 0, 3), (1, slice(1, 5))), ((3, 0), (slice(1, 3),))):
        same_view(student, (shape, torch.empty(shape).stride(), 4, key))


@check("C4", share=5, try_this="sliced((2, 3), (3, 1), 0, (None, 1, None))[0], sliced((), (), 0, (None,))[0]")
def check_none(student, rng):
    """New dims in all places"""
    for shape, strides, offset in views(rng):
        first, last = rng.integer(-shape[0], shape[0] - 1), slice(1, None)
        for key in ((None,), (None, first), (first, None), (None, last, None), (last, None, None)):
            same_view(student, (shape, strides, offset, key))
    same_view(student, ((), (), 3, (None, None)))


@check("C5", share=5, try_this="sliced((2, 3, 4), (12, 4, 1), 0, (..., 1)), sliced((2, 3), (3, 1), 0, (1, ..., 2))")
def check_ellipsis(student, rng):
    """... stands for any number of dims"""
    for shape, strides, offset in views(rng, 2):
        first, last = rng.integer(0, shape[0] - 1), slice(1, None)
        full = tuple(rng.integer(0, size - 1) for size in shape)
        keys = (...,), (..., 0), (first, ...), (first, ..., last), (*full, ...), (*full[:1], ..., *full[1:])
        for key in (*keys, (None, ..., None), (None, ..., 0), (first, None, ...)):  # None uses up no dim
            same_view(student, (shape, strides, offset, key))
    same_view(student, ((), (), 3, (...,)))


@check("C5", share=2, try_this="sliced((2, 3, 4), (1, 2, 6), 1, ()), sliced((), (), 3, ())")
def check_left_over(student, rng):
    """Dims that the key does not name stay"""
    for shape, strides, offset in views(rng, 0):
        same_view(student, (shape, strides, offset, ()))
        if shape:
            same_view(student, (shape, strides, offset, (slice(1, None),)))


@check("C6", category="error", share=7, try_this="sliced((3,), (1,), 0, (3,)), sliced((3,), (1,), 0, (0, 0))")
def check_errors(student, rng):
    """Refuses ints beyond the ends, too many indices, and steps below 1"""
    for shape, strides, offset in views(rng):
        n, whole = len(shape), slice(None)
        for index in (shape[-1], shape[-1] + 3, -shape[-1] - 1):
            key = (*[whole] * (n - 1), index)
            raises(student.sliced, shape, strides, offset, key, error=IndexError, case="an int beyond the ends")
        for key in ((0,) * (n + 1), (whole,) * (n + 1), (0, ..., *[whole] * n), (None, *[whole] * n, 0)):
            raises(student.sliced, shape, strides, offset, key, error=IndexError, case="more indices than dims")
    raises(student.sliced, (), (), 0, (0,), error=IndexError, case="an int for 0 dims")
    raises(student.sliced, (0, 2), (2, 1), 0, (0,), error=IndexError, case="an int for a dim of size 0")
    for step in (0, -1, -2):
        for key in ((slice(None, None, step),), (0, slice(1, 3, step))):
            raises(student.sliced, (4, 5), (5, 1), 0, key, error=ValueError, case="a step below 1")
