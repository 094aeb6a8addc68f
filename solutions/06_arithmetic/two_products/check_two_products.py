import pytest
import torch

from grader.check import (
    assert_differentiable,
    assert_does_not_mutate,
    assert_dtype,
    assert_no_loop,
    assert_peak_memory_ratio,
    assert_preserves_dtype,
    assert_values,
    check,
    raises,
)

GATES = "gate(torch.tensor(3.0), torch.tensor(2.0)), gate(torch.rand(2, 0), torch.rand(2, 0)).shape"
STRETCHED = "gate(torch.ones(2, 3), torch.ones(3)), gate(torch.ones(2, 3), torch.ones(3, 2))"
SQUARE = "q = torch.tensor([[1.0, 2.0], [3.0, 4.0]]); similarity(q, torch.tensor([[1.0, 0.0], [0.0, 0.0]]))"
BATCH = "similarity(torch.rand(4, 2, 5), torch.rand(4, 3, 5)).shape"
PAIRS = "pair_scores(torch.ones(2, 2), torch.tensor([[1.0, 2.0], [0.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))"
POWERS = "discounted([1, 1, 1, 1], 10.0), discounted([], 0.5).shape, discounted([2], 0.5).dtype"
DOUBLE = "gate(torch.ones(2).double(), torch.ones(2).double()).dtype"
ARGUMENTS = {"gate": 2, "similarity": 2, "pair_scores": 3}
NAMES = ("the first argument", "the second argument", "the third argument")


def has_values(yours, expected, what):
    assert_values(yours, expected, what, rtol=1e-4, atol=1e-5)


def squares(rng, name, size):
    """Arguments for a function. All shapes fit each other, in any order."""
    return [rng.normal(size, size) for _ in range(ARGUMENTS[name])]


@check("C1", share=1, try_this=GATES)
def check_gate(student, rng):
    """Multiplies tensors of 0 to 3 dims, of any strides"""
    a, b, c = rng.sizes(3)
    pairs = [(rng.normal(*shape), rng.normal(*shape)) for shape in ((), (a,), (a, b), (1, c, a), (b, 0))]
    for x, g in (*pairs, (rng.normal(a, b).T, rng.normal(b, 2 * a)[:, ::2])):
        expected = x * g
        has_values(student.gate(x, g), expected, "the result of `gate`")


@check("C2", category="error", share=2, try_this=STRETCHED)
def check_gate_refuses(student, rng):
    """Refuses shapes that broadcasting would stretch, and others"""
    a, b = rng.sizes(2)
    for x, g, case in (
        ((b,), (a, b), "a row with a table"),
        ((a, b), (b,), "a table with a row"),
        ((a, 1), (a, b), "a column with a table"),
        ((a, b), (b, a), "a table with one of its transposed shape"),
        ((a,), (), "a vector with a number"),
        ((1, a), (a,), "a table of one row with a vector"),
    ):
        raises(student.gate, rng.normal(*x), rng.normal(*g), error=ValueError, case=case)


@check("C3", share=3, try_this=SQUARE)
def check_similarity(student, rng):
    """Compares rows of matrices, also of square ones"""
    n, m, d = rng.sizes(3)
    shapes = (((n, d), (m, d)), ((d, d), (d, d)), ((1, d), (m, d)), ((n, 1), (m, 1)), ((0, d), (m, d)))
    pairs = [(rng.normal(*first), rng.normal(*second)) for first, second in shapes]
    for q, k in (*pairs, (rng.normal(d, n).T, rng.normal(m, 2 * d)[:, ::2])):
        expected = (q[:, None] * k).sum(-1)
        has_values(student.similarity(q, k), expected, "the result of `similarity`")


@check("C4", category="shape", share=2, try_this=BATCH)
def check_batches(student, rng):
    """Makes one table for each item of a batch"""
    n, m, d = rng.sizes(3, low=3)
    for front in ((2,), (m,), (2, 3)):
        q, k = rng.normal(*front, n, d), rng.normal(*front, m, d)
        expected = (q[..., :, None, :] * k[..., None, :, :]).sum(-1)
        has_values(student.similarity(q, k), expected, "the result of `similarity`")


@check("C5", share=3, try_this=PAIRS)
def check_pair_scores(student, rng):
    """Scores pairs, also one, none, and as many as there are dims"""
    n, d, e = rng.sizes(3)
    for rows, left, right in ((n, d, e), (1, d, e), (0, d, e), (d, d, d), (n, 1, e)):
        x, W, y = rng.normal(rows, left), rng.normal(left, right), rng.normal(rows, right)
        expected = torch.einsum("nd,de,ne->n", x, W, y)
        has_values(student.pair_scores(x, W, y), expected, "the result of `pair_scores`")


@check("C6", category="memory", share=1, try_this="print the shape of every tensor on the way to pair_scores' result")
def check_lean(student, reference):
    """Needs memory for each row, not for each pair of rows"""
    inputs = lambda n: (torch.zeros(n, 6), torch.zeros(6, 5), torch.zeros(n, 5))  # noqa: E731
    limit = "400 bytes of new memory for each row"
    assert_peak_memory_ratio(student.pair_scores, reference.pair_scores, inputs, size=8_000, at_most=100, limit=limit)


@check("C7", share=2, try_this=POWERS)
def check_discounted(student, rng):
    """Discounts lists of floats and ints, also of one and of none, by any rate"""
    rate, size = rng.choice((0.5, 0.25, 0.75)), rng.integer(5, 9)
    lists = [(rewards, rate) for rewards in (rng.normal(size).tolist(), [7, 1, 3, 2, 9], [4.0], [])]
    for rewards, factor in (*lists, ([1, 1, 1], 2.0), ([1, 1, 1], 0.0), ([1, 1, 1], -0.5)):
        expected = torch.tensor([reward * factor**i for i, reward in enumerate(rewards)])
        has_values(student.discounted(rewards, factor), expected, "the result of `discounted`")


@check("C7", category="memory", share=1, try_this="rewards = [1.0, 2.0]; discounted(rewards, 0.5); print(rewards)")
def check_rewards_stay(student, rng):
    """Leaves the list of rewards as it is"""
    assert_does_not_mutate(student.discounted, rng.normal(4).tolist(), 0.5, what="rewards", requiring=False)


@check("C7", category="dtype", share=1, try_this="discounted([1, 2], 0.5).dtype")
def check_float32(student):
    """Gives float32"""
    for rewards in ([1.5, 2.5], [1, 2], [3], []):
        assert_dtype(student.discounted(rewards, 0.5), torch.float32, "the result of `discounted`")


@check("C8", category="performance", share=3, try_this="look for a `for` over rows or elements")
def check_no_loop(student, rng):
    """No loop over rows, batches or elements"""
    for name in ARGUMENTS:
        assert_no_loop(getattr(student, name), squares(rng, name, 4), squares(rng, name, 120))
    for fronts in (((2,), (90,)), ((2, 2), (12, 12))):
        assert_no_loop(student.similarity, *([rng.normal(*front, 4, 4) for _ in range(2)] for front in fronts))
    assert_no_loop(student.discounted, ([1.0] * 4, 0.5), ([1.0] * 4_000, 0.5))


@check("C9", category="gradient", share=1, try_this="x = torch.ones(2, requires_grad=True); gate(x, x).requires_grad")
@pytest.mark.parametrize("name", ARGUMENTS)
def check_gradients(student, rng, name):
    """Lets gradients through to all arguments, with all digits of float64"""
    assert_differentiable(getattr(student, name), *squares(rng, name, 3), names=NAMES)


@check("C9", category="dtype", share=1, try_this=DOUBLE)
@pytest.mark.parametrize("name", ARGUMENTS)
def check_dtype(student, rng, name):
    """Keeps the dtype, and leaves the arguments as they are"""
    function, arguments = getattr(student, name), squares(rng, name, 3)
    for dtype in (torch.float32, torch.float64):
        assert_does_not_mutate(function, *(x.to(dtype) for x in arguments), what=f"an argument of `{name}`")
    assert_preserves_dtype(function, *arguments, dtypes=(torch.float32, torch.float64))
