import itertools
import math

import torch

from grader.check import (
    allclose,
    as_tuples,
    assert_costs_at_most,
    assert_does_not_mutate,
    assert_dtype,
    assert_isinstance,
    assert_no_loop,
    assert_peak_memory_ratio,
    assert_true,
    assert_values,
    check,
    count_costs,
    gradients,
)

A_ROW = 100  # bytes of new memory. gather takes 4 or 8, arithmetic on flat indices 28, a mask of 2,000 classes 2,000


def example(rng, rows, classes):
    """Scores and labels. The first picture is of the last class, and taken for one of the first."""
    scores, labels = rng.normal(rows, classes), rng.whole(0, classes - 1, rows)
    labels[:1], scores[:1, 0] = classes - 1, 9.0
    return scores, labels


def picks(student, scores, labels, case):
    """The result of `pick` is right."""
    expected = torch.tensor([row[label] for row, label in zip(scores.tolist(), labels.tolist(), strict=True)])
    assert_values(student.pick(scores, labels), expected, f"the result of `pick` for {case}")


def places_of_largest(t):
    """Where the largest number stands, in reading order, by plain Python."""
    places = list(itertools.product(*map(range, t.shape)))
    numbers = [t[place].item() for place in places]
    return [place for place, number in zip(places, numbers, strict=True) if number == max(numbers)]


def pair_of(result):
    """The two items that came back. Which kind of sequence the index is costs points in one check only."""
    assert_true(
        isinstance(result, (tuple, list)) and len(result) == 2, "the result of `best` is not a pair (value, index)"
    )
    value, index = result
    return value, as_tuples(index.tolist() if isinstance(index, torch.Tensor) and index.numel() < 9 else index)


def finds(student, t, case):
    """The result of `best` is right; which of several places it must be is for C5."""
    places, largest = places_of_largest(t), float(t.max())
    value, index = pair_of(student.best(t))
    assert_values(value, largest, f"the value for {case}", rtol=0.0, atol=0.0)
    if len(places) == 1:
        assert_values(index, places[0], f"the index for {case}")
    else:
        is_there = any(allclose(index, place) for place in places)
        assert_true(is_there, f"the index for {case} is not a place of the largest number")


@check("C1", share=3, try_this="pick(torch.rand(1, 3), torch.tensor([2])), pick(torch.rand(0, 3), torch.arange(0))")
def check_random(student, rng):
    """Picks from random scores, of any strides"""
    cases = (8, 4, "many pictures"), (4, 9, "many classes"), (9, 1, "one class"), (1, 4, "one picture"), (0, 3, "none")
    for rows, classes, case in cases:
        scores, labels = example(rng, rows, classes)
        picks(student, scores, labels, case)
        picks(student, scores.T.contiguous().T, labels.repeat_interleave(2)[::2], case)


@check("C1", share=2, try_this="pick(torch.tensor([[1.0, float('nan')], [2.0, float('nan')]]), torch.tensor([0, 1]))")
def check_nan(student, rng):
    """NaN and infinities: elsewhere they do not matter, and they are picked as they are"""
    for odd in (math.nan, math.inf, -math.inf):
        scores, labels = example(rng, *rng.integers(4, 7, 2))
        right = torch.nn.functional.one_hot(labels, scores.shape[1]).bool()
        picks(student, scores.where(right, odd), labels.clone(), "NaN or infinities elsewhere")
        picks(student, scores.where(~right, odd), labels, "NaN or infinities of the right class")


@check("C2", category="dtype", share=1, try_this="pick(torch.ones(2, 3).half(), torch.tensor([2, 0])).dtype")
def check_dtype(student, rng):
    """Keeps the dtype of the scores"""
    scores, labels = example(rng, 4, 6)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        assert_dtype(student.pick(scores.to(dtype), labels.clone()), dtype, "the result of `pick`")
    exact = rng.normal(4, 6, dtype=torch.float64)
    expected, result = exact[torch.arange(4), labels], student.pick(exact, labels.clone())
    if allclose(result, expected, rtol=1e-3, atol=1e-3):  # other entries are for C1
        assert_values(result, expected, "the result of `pick` for float64", rtol=0.0, atol=0.0)


@check("C2", category="gradient", share=1, try_this="pick(torch.rand(2, 3, requires_grad=True), torch.tensor([2, 0]))")
def check_gradient(student, rng):
    """Lets gradients through"""
    scores, labels = example(rng, 5, 7)
    expected = torch.nn.functional.one_hot(labels, 7).float()
    right = allclose(student.pick(scores.clone(), labels.clone()), (scores * expected).sum(1))
    grad = gradients(student.pick, scores, labels)[0]
    assert_true(grad is not None, "no gradient reaches the scores, as after `detach`, `.data`, a list or NumPy")
    if right:  # a gradient of wrong numbers is for other checks
        assert_values(grad, expected, "the gradient of the scores")


@check("C3", category="memory", share=2, try_this="print the shape of every tensor on the way to the result of `pick`")
def check_no_table(student, reference, rng):
    """Needs little memory for many classes"""
    scores, labels = example(rng, 300, rng.integer(1_900, 2_100))
    for table in (scores, scores.T.contiguous().T):
        assert_costs_at_most(student.pick, (table, labels.clone()), bytes=300 * A_ROW)
    # As seen from outside, where a mask takes 32 MB, and the Python objects of a loop over 2,000 rows do not count.
    zeros = lambda n: (torch.zeros(n // 4, 2 * n), rng.whole(0, 2 * n - 1, n // 4))  # noqa: E731
    limit = "100 bytes of new memory for each row"
    assert_peak_memory_ratio(student.pick, reference.pick, zeros, size=8_000, at_most=30, limit=limit)


@check(
    "C4",
    share=3,
    try_this="best(torch.arange(24).reshape(2, 3, 4)), best(torch.tensor([-5.0])), best(torch.tensor(5.0))",
)
def check_best(student, rng):
    """Finds the largest in tensors of 0 to 4 dims, and compares exactly in every dtype"""
    for rank, case in enumerate(("0 dims", "1 dim", "2 dims", "3 dims", "4 dims")):
        sizes = rng.shuffled((2, 3, 4, 5))[:rank]
        below_zero = (-3 - rng.permutation(math.prod(sizes))).reshape(sizes)
        (place,) = places_of_largest(below_zero)
        if place == (0,) or (rank > 1 and place == place[::-1]):  # an index of 0, or the wrong way round, shows
            below_zero = below_zero.roll(1, 0)
        finds(student, below_zero, case)
        finds(student, below_zero.permute(tuple(reversed(range(rank)))) / 8, case)
    sizes = rng.integers(3, 5, 2)
    order = rng.permutation(math.prod(sizes)).reshape(sizes)
    large = 2**24 + 1 + 2 * order  # odd, so that float32 rounds them
    close = 2**26 + torch.arange(order.numel()).reshape(sizes)  # the last of them are one number in float32
    for t in (large, large.double(), close, order.bfloat16(), torch.full(sizes, -math.inf)):
        finds(student, t, "large numbers or another dtype")
    ties = torch.zeros(sizes)
    ties[0, 1:] = ties[1:, 0] = 1.0  # each dim by itself has its largest at 0, but t[0, 0] is not the largest
    finds(student, ties, "several largest numbers")


@check("C4", category="dtype", share=1, try_this="best(torch.tensor([[1, 2], [0, 1]]))")
def check_plain_types(student, rng):
    """Gives a float and a tuple of ints"""
    for t in (rng.normal(3, 4), rng.permutation(6).reshape(2, 3), rng.normal(3)):
        pair = student.best(t)
        assert_isinstance(pair, tuple, "the result of `best`")
        assert_isinstance(pair_of(pair)[0], float, "the value")
        assert_isinstance(pair[1], tuple, "the index")
        for number in pair[1]:
            assert_isinstance(number, int, "a number of the index")


@check("C5", share=1, try_this="best(torch.tensor([[1, 5, 0], [5, 0, 5]])), best(torch.zeros(2, 3))")
def check_first_of_several(student, rng):
    """Tells the first of several places"""
    rows, columns = rng.integers(3, 5, 2)
    corners = torch.zeros(rows, columns)
    corners[0, columns - 1] = corners[rng.integer(1, rows - 1), 0] = 1.0
    t = rng.whole(0, 1, rows, columns, 3)
    for case in (corners, t, t.transpose(0, 2), -corners.T):
        first, *later = places_of_largest(case)
        _, index = pair_of(student.best(case))
        found_later = any(allclose(index, place) for place in later if place != first[::-1])  # the wrong way round: C4
        assert_true(not found_later, "the index is not the first place of the largest number, but a later one")


@check("C6", category="performance", share=2, try_this="look for a `for` over rows or elements")
def check_no_loop(student, rng):
    """No loop over rows or elements"""
    # Whoever makes a table of N by N loses that by the rule on memory, and no loop: let the table be small.
    makes_table = count_costs(student.pick, *example(rng, 300, 10)).bytes > 300 * A_ROW
    assert_no_loop(student.pick, example(rng, 5, 7), example(rng, 100 if makes_table else 30_000, 10))
    few, many = rng.uniform(4, 6), rng.uniform(3_000, 50)
    few[-1, 0] = many[-1, 0] = 2.0  # the largest, at the beginning of the last row
    assert_no_loop(student.best, (few,), (many,))


@check("C7", category="memory", share=1, try_this="labels = torch.tensor([0]); pick(torch.ones(1, 2), labels); labels")
def check_arguments_kept(student, rng):
    """Leaves scores, labels and t as they were"""
    assert_does_not_mutate(student.pick, *example(rng, 4, 6), what="scores or labels")
    for dtype in (torch.float32, torch.float64):
        assert_does_not_mutate(student.best, rng.normal(3, 5, dtype=dtype), what="t")
