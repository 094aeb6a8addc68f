import itertools
import math

import pytest
import torch

from grader.check import (
    agrees,
    as_lean_as,
    check,
    gradients,
    is_instance,
    is_tensor,
    keeps_arguments,
    no_loop,
    plain,
    require,
    same_dtype,
    same_shape,
    same_values,
    uses_at_most,
)

SIZES = ["sizes", "one_class", "few_rows"]
A_ROW = 100  # bytes of new memory. gather takes 4 or 8, arithmetic on flat indices 28, a mask of 2,000 classes 2,000
FEW = "pick(torch.rand(6, 1), torch.zeros(6).long()), pick(torch.rand(1, 3), torch.tensor([2])).shape"
NAN = "pick(torch.tensor([[1.0, float('nan')], [float('inf'), 2.0]]), torch.tensor([0, 1]))"
HALF = "pick(torch.ones(2, 3, dtype=torch.float16), torch.tensor([2, 0])).dtype"


def example(rng, rows, classes):
    """Scores and labels. The first picture is of the last class, and taken for one of the first."""
    scores, labels = rng.normal(rows, classes), torch.randint(0, classes, (rows,), generator=rng)
    labels[:1], scores[:1, 0] = classes - 1, 9.0
    return scores, labels


def right_scores(scores, labels):
    """What `pick` must return, by plain Python."""
    table = scores.tolist()
    return torch.tensor([table[row][label] for row, label in enumerate(labels.tolist())])


def picks(student, scores, labels):
    asked = right_scores(scores, labels)
    yours = student.pick(scores, labels)
    is_tensor(yours, "the result of `pick`")
    same_shape(yours, asked, "the result of `pick`")
    same_values(yours, asked, "the result of `pick`")


def places_of_largest(t):
    """Where the largest number stands, in reading order, by plain Python."""
    places = list(itertools.product(*map(range, t.shape)))
    numbers = [t[place].item() for place in places]
    return [place for place, number in zip(places, numbers, strict=True) if number == max(numbers)]


def with_best_at_end(rng, rows, columns):
    """Numbers above 0, the largest of them at the beginning of the last row."""
    t = rng.uniform(rows, columns)
    t[rows - 1, 0] = 2.0
    return t


def pair_of(yours):
    """The two items that came back. Which kind of sequence the index is costs points in one check only."""
    require(isinstance(yours, (tuple, list)) and len(yours) == 2, "the result of `best` is not a pair (value, index)")
    index = yours[1]
    return yours[0], plain(index.tolist() if isinstance(index, torch.Tensor) and index.numel() < 9 else index)


@check("C1", share=1, try_this=FEW)
@pytest.mark.parametrize("rows, classes", [((8, 4), (4, 9)), ((9, 6), (1, 5)), ((1, 0), (4, 3))], ids=SIZES)
def check_random(student, rng, rows, classes):
    """Picks from random scores, of any strides"""
    for sizes in zip(rows, classes, strict=True):
        scores, labels = example(rng, *sizes)
        picks(student, scores, labels)
        picks(student, scores.T.contiguous().T, labels.repeat_interleave(2)[::2])


@check("C1", share=1, try_this=NAN)
def check_rest_is_ignored(student, rng):
    """NaN and infinities elsewhere do not matter"""
    scores, labels = example(rng, *rng.integers(4, 7, 2))
    kept = torch.zeros_like(scores).index_put((torch.arange(len(labels)), labels), torch.tensor(1.0)).bool()
    for odd in (math.nan, math.inf, -math.inf):
        picks(student, scores.where(kept, odd), labels.clone())


@check("C1", share=1, try_this="pick(torch.tensor([[float('nan'), 1.0], [2.0, 3.0]]), torch.tensor([0, 1]))")
def check_picks_nan(student, rng):
    """Picks NaN and infinities as they are"""
    for value in (math.nan, math.inf, -math.inf):
        scores, labels = example(rng, *rng.integers(4, 7, 2))
        scores[1, labels[1]] = value
        picks(student, scores, labels)


@check("C2", category="dtype", share=1, try_this=HALF)
def check_dtype(student, rng):
    """Keeps the dtype of the scores"""
    scores, labels = example(rng, 4, 6)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        same_dtype(student.pick(scores.to(dtype), labels.clone()), dtype, "the result of `pick`")
    exact = rng.normal(4, 6, dtype=torch.float64)
    expected = exact[torch.arange(4), labels]
    yours = student.pick(exact, labels.clone())
    if agrees(yours, expected, rtol=1e-3, atol=1e-3):  # other entries are for C1
        same_values(yours, expected, "the result of `pick` for float64", rtol=0.0, atol=0.0)


@check("C2", category="gradient", share=1, try_this="pick(torch.rand(2, 3, requires_grad=True), torch.tensor([2, 0]))")
def check_gradient(student, rng):
    """Lets gradients through"""
    scores, labels = example(rng, 5, 7)
    wanted = torch.zeros(5, 7).index_put((torch.arange(5), labels), torch.tensor(1.0))
    right = agrees(student.pick(scores.clone(), labels.clone()), right_scores(scores, labels))
    grad = gradients(student.pick, scores, labels)[0]
    text = "no gradient reaches the scores: the result is cut off from them, as by `detach`, `.data`, a list or NumPy"
    require(grad is not None, text)
    if right:  # a gradient of wrong numbers is for other checks
        same_values(grad, wanted, "the gradient of the scores")


@check("C3", category="memory", share=1, try_this="print the shape of every tensor on the way to the result of `pick`")
@pytest.mark.parametrize("turned", [False, True], ids=["contiguous", "transposed"])
def check_no_table(student, reference, rng, turned):
    """Needs little memory for many classes"""
    scores, labels = example(rng, 300, rng.integer(1_900, 2_100))
    scores = scores.T.contiguous().T if turned else scores
    uses_at_most(student.pick, (scores, labels), bytes=300 * A_ROW)
    if not turned:  # as seen from outside, where a mask of 8,000 rows takes 32 MB
        zeros = lambda n: (torch.zeros(n, n // 2), torch.randint(0, n // 2, (n,), generator=rng))  # noqa: E731
        as_lean_as(student.pick, reference.pick, zeros, size=8_000, at_most=30)


@check(
    "C4",
    share=1,
    try_this="best(torch.arange(24).reshape(2, 3, 4)), best(torch.tensor([-5.0])), best(torch.tensor(5.0))",
)
@pytest.mark.parametrize("ranks", [(0,), (1, 2), (3, 4)], ids=["no_dim", "few_dims", "many_dims"])
def check_best(student, rng, ranks):
    """Finds the largest in tensors of 0 to 4 dims"""
    for rank in ranks:
        sizes = (torch.randperm(4, generator=rng) + 2).tolist()[:rank]
        below_zero = (-3 - torch.randperm(math.prod(sizes), generator=rng)).reshape(sizes)
        (place,) = places_of_largest(below_zero)
        if rank > 1 and place == place[::-1]:  # an index that is the wrong way round must show
            below_zero = below_zero.roll(1, 0)
        for t in (below_zero, below_zero.permute(tuple(reversed(range(rank)))) / 8):
            (asked,), largest = places_of_largest(t), float(t.max())
            value, index = pair_of(student.best(t))
            same_values(value, largest, "the value")
            same_values(index, asked, "the index")


@check("C4", category="dtype", share=1, try_this="best(torch.tensor([[1, 2], [0, 1]]))")
def check_plain_types(student, rng):
    """Gives a float and a tuple of ints"""
    for t in (rng.normal(3, 4), torch.randperm(6, generator=rng).reshape(2, 3), rng.normal(3)):
        pair = student.best(t)
        is_instance(pair, tuple, "the result of `best`")
        value, index = pair_of(pair)
        is_instance(value, float, "the value")
        is_instance(pair[1], tuple, "the index")
        for number in index:
            is_instance(number, int, "a number of the index")


@check("C4", share=1, try_this="best(torch.tensor([2**24, 2**24 + 1])), best(torch.ones(2, 3).bfloat16())")
def check_exact_best(student, rng):
    """Compares exactly, in every dtype"""
    sizes = rng.integers(3, 5, 2)
    large = 2**24 + 1 + 2 * rng.permutation(math.prod(sizes)).reshape(sizes)  # odd, so that float32 rounds them
    close = 2**26 + torch.arange(large.numel()).reshape(sizes)  # the last of them are one number in float32
    low = torch.full(sizes, -math.inf)
    for t in (large, large.double(), close, rng.permutation(math.prod(sizes)).reshape(sizes).bfloat16(), low):
        asked, largest = places_of_largest(t)[0], float(t.max())
        value, index = pair_of(student.best(t))
        same_values(value, largest, "the value", rtol=0.0, atol=0.0)
        if t is not low:  # which of several places it must be is for C5
            same_values(index, asked, "the index")


@check("C5", share=1, try_this="best(torch.tensor([[1, 5, 0], [5, 0, 5]])), best(torch.zeros(2, 3))")
def check_first_of_several(student, rng):
    """Tells the first of several places"""
    rows, columns = rng.integers(3, 5, 2)
    corners = torch.zeros(rows, columns)
    corners[0, columns - 1] = corners[rng.integer(1, rows - 1), 0] = 1.0
    t = torch.randint(0, 2, (rows, columns, 3), generator=rng)
    for case in (corners, t, t.transpose(0, 2), -corners.T):
        first, *later = places_of_largest(case)
        _, index = pair_of(student.best(case))
        found_later = any(agrees(index, place) for place in later if place != first[::-1])  # the wrong way round: C4
        require(not found_later, "the index is not the first place of the largest number, but a later one")


@check("C6", category="performance", share=2, try_this="look for a `for` over rows or elements")
def check_no_loop(student, rng):
    """No loop over rows or elements"""
    for few, many in ((5, 50), (5, 30_000)):
        no_loop(student.pick, example(rng, few, 7), example(rng, many, 10))
    for few, many in ((4, 40), (4, 3_000)):
        no_loop(student.best, (with_best_at_end(rng, few, 6),), (with_best_at_end(rng, many, 50),))


@check("C7", category="memory", share=1, try_this="labels = torch.tensor([0]); pick(torch.ones(1, 2), labels); labels")
def check_arguments_kept(student, rng):
    """Leaves scores, labels and t as they were"""
    scores, labels = example(rng, 4, 6)
    keeps_arguments(student.pick, scores, labels, what="scores or labels")
    for dtype in (torch.float32, torch.float64):
        keeps_arguments(student.best, rng.normal(3, 5, dtype=dtype), what="t")
