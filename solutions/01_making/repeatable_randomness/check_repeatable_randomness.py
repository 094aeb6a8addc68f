import pytest
import torch

from grader.check import (
    after_call,
    assert_close,
    assert_does_not_mutate,
    assert_dtype,
    assert_in_place,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_unchanged,
    assert_values,
    check,
)

STEPS = (0, 1, 2, 100, 256, 1000, 1024, 4096, 10_000, 65_536, 10**6, 2**20, 2**24, 2**31)
FUNCTIONS = ["weights", "split", "noisy", "refill_"]


def is_made(tensor, shape, dtype, what):
    assert_tensor(tensor, what)
    assert_shape(tensor, shape, what)
    assert_dtype(tensor, dtype, what)


def arguments(name):
    """What a function gets beside the seed."""
    t = torch.zeros(5, 6)
    return {"weights": ([(3, 4), (5,)],), "split": (40, 20), "noisy": (t,), "refill_": (t,)}[name]


def drawn(student, name, seed):
    """All that one call gives, as one vector."""
    given = arguments(name)
    result = getattr(student, name)(*given, seed)
    if name == "refill_" and result is None:  # what it returns is for another check
        result = after_call(given[0])
    tensors = result if isinstance(result, (list, tuple)) else [result]
    assert_true(len(tensors) > 0, "the result is empty")
    for tensor in tensors:
        assert_tensor(tensor, "a tensor of the result")
    return torch.cat([after_call(tensor).flatten() for tensor in tensors])


def looks_uniform(numbers, what):
    """Thousands of numbers: in [0, 1), nearly all different, a tenth of them in each tenth."""
    assert_true(bool(((numbers >= 0) & (numbers < 1)).all()), f"{what} has numbers outside of [0, 1)")
    assert_true(numbers.unique().numel() > 0.9 * numbers.numel(), f"{what} repeats numbers; each element has its own")
    tenths = torch.histc(numbers, 10, 0, 1) / numbers.numel()
    assert_true(bool(((tenths - 0.1).abs() < 0.03).all()), f"{what} is not uniform in [0, 1)")


@check("C1", share=17, try_this="w = weights([(100, 100)], 1)[0]; w.mean(), w.std(), w.abs().max()")
def check_normal(student, rng):
    """Normal numbers of the right spread"""
    seed = rng.integer(0, 10**6)
    w = student.weights([(60, 100)], seed)[0]
    assert_tensor(w, "a weight")
    z = w.flatten() / 0.02
    # Of 6,000 numbers: the limits are more than five standard errors away.
    assert_true(abs(z.mean().item()) < 0.07, "the mean of a large weight is not near 0")
    some, few, rare = ((z.abs() > limit * z.std()).float().mean().item() for limit in (1.0, 2.0, 3.0))
    normal = abs(some - 0.317) < 0.035 and abs(few - 0.0455) < 0.016 and rare > 0
    assert_true(normal, "the numbers of a large weight are not normal: too many, or too few, are far from 0")
    assert_true(abs(z.std().item() - 1) < 0.05, "the standard deviation of a large weight is not near 0.02")


@check("C1", category="shape", share=4, try_this="[w.shape for w in weights([(), (0, 3), (1, 2, 1)], 1)]")
def check_shapes(student, rng):
    """Weights of many dims, of one number, and of none"""
    shapes = [rng.sizes(2), (), (0, 3), (2, 1, 3, 1, 2, 2), (1,), rng.sizes(4, 1, 4)]
    made = student.weights(list(shapes), 3)
    assert_true(len(made) == len(shapes), "there is not one tensor for each shape")
    for w, shape in zip(made, shapes, strict=True):
        is_made(w, shape, torch.float32, "a weight")
    assert_true(len(student.weights([], 3)) == 0, "an empty list of shapes does not give an empty list")


@check("C2", share=17, try_this="split(10, 3, 1), split(3, 0, 1), split(2, 2, 1)")
def check_split(student, rng):
    """Splits into parts with each number once"""
    n = rng.integer(20, 60)
    for size, k in ((n, n // 3), (n, 0), (n, n), (1, 1), (0, 0), (n, n - 1)):
        parts = student.split(size, k, rng.integer(0, 10**6))
        assert_true(len(parts) == 2, "`split` does not give two parts")
        for part, length in zip(parts, (k, size - k), strict=True):
            is_made(part, (length,), torch.int64, "a part")
        assert_values(torch.cat(tuple(parts)).sort().values, torch.arange(size), "both parts together, sorted,")


@check("C2", share=5, try_this="split(20, 10, 1), split(20, 10, 2)")
def check_random_order(student, rng):
    """The order is random in both parts"""
    places = torch.zeros(2)
    for seed in range(30):
        parts = student.split(40, 20, seed)
        for i, part in enumerate(parts):
            assert_tensor(part, "a part")
            assert_true(bool((part.sort().values != part).any()), "a part is sorted; its order must be random")
            places[i] += part.float().mean()
    assert_true(
        bool(((places / 30 - 19.5).abs() < 4).all()), "small numbers are in one part more often than in the other"
    )


@check("C3", share=17, try_this="t = torch.zeros(1000); (noisy(t, 1) - t).min(), noisy(t, 1).unique().numel()")
def check_noise(student, rng):
    """Adds another uniform number to each element"""
    for t in (torch.zeros(50, 80), torch.zeros(80, 50, dtype=torch.int64).T, torch.zeros(4_000, dtype=torch.bool)):
        result = student.noisy(t, rng.integer(0, 10**6))
        assert_tensor(result, "the result of `noisy`")
        assert_shape(result, t, "the result of `noisy`")
        looks_uniform(result.flatten().double(), "the noise")
    for least, case in ((0.0, "float64 numbers"), (2.0**40, "large float64 numbers")):
        t = rng.whole(-50, 50, 3, 4, dtype=torch.float64) + least
        noise = student.noisy(t, 8) - t
        assert_true(bool(((noise >= 0) & (noise < 1)).all()), f"the result for {case} is not t plus noise in [0, 1)")


@check("C3", category="dtype", share=4, try_this="noisy(torch.ones(2).double(), 1).dtype, noisy(torch.tensor([7]), 1)")
def check_dtypes(student):
    """Keeps float dtypes, and makes float32 of others"""
    floats = torch.float16, torch.bfloat16, torch.float32, torch.float64
    for dtype in (*floats, torch.int64, torch.uint8, torch.bool):
        for shape in ((2, 3), (), (0,)):
            result = student.noisy(torch.ones(shape, dtype=dtype), 4)
            is_made(result, shape, dtype if dtype in floats else torch.float32, "the result of `noisy`")


@check("C4", category="memory", share=17, try_this="t = torch.zeros(3, 4); refill_(t[:, ::2], 1); print(t)")
def check_refill(student, rng):
    """Overwrites tensors of any strides in place"""
    whole, wide, large = torch.full((50, 80), 9.0), torch.full((50, 160), 9.0), torch.full((70, 100), 9.0)
    turned = torch.full((80, 50), 9.0, dtype=torch.float64)
    for base, t in ((whole, whole), (wide, wide[:, ::2]), (turned, turned.T), (large, large[10:60, 10:90])):
        assert_in_place(student.refill_(t, rng.integer(0, 10**6)), t)
        looks_uniform(after_call(t).flatten().double(), "t, afterwards,")
        assert_true(int((base == 9).sum()) == base.numel() - t.numel(), "numbers beside t, in the same memory, changed")
    for dtype in (torch.float16, torch.bfloat16):
        t = torch.full((300, 200), 9.0, dtype=dtype)
        assert_in_place(student.refill_(t, rng.integer(0, 10**6)), t)
        assert_true(
            bool((after_call(t) < 1).all()), "in a t of 16 bits, some numbers are 1.0 or more; draw in its dtype"
        )


@check("C6", share=2, try_this="weights([(2,), (2,)], 1), weights([(2,), (2,)], 2), weights([(2,), (2,)], 1)")
@pytest.mark.parametrize("name", FUNCTIONS)
def check_seeds(student, rng, name):
    """Equal seeds give equal numbers, and others other ones"""
    for seed in (0, rng.integer(1, 10**6), 2**32 - 1 - rng.integer(0, 9)):
        first, second = drawn(student, name, seed), drawn(student, name, seed)
        assert_values(second, first, "what a second call gives", rtol=0.0, atol=0.0)
    seed = rng.integer(0, 10**6)
    others = {tuple(drawn(student, name, seed + step).tolist()) for step in STEPS}
    assert_true(len(others) == len(STEPS), "two seeds give the same numbers")


@check("C5", share=17, try_this="a, state = carry_on(state, 3); b, state = carry_on(state, 2); and carry_on(first, 5)")
def check_goes_on(student, rng):
    """Goes on from any state, again and again"""
    generator = torch.Generator().manual_seed(rng.integer(0, 10**6))
    for draws, k in ((3, 5), (0, 1), (700, 0), (1, 40)):
        torch.randn(draws, generator=generator)
        state = generator.get_state()
        for _ in range(2):
            numbers, state = student.carry_on(state, k)
            assert_close(numbers, torch.rand(k, generator=generator), "the vector of numbers", rtol=0.0, atol=0.0)
            assert_tensor(state, "the state afterwards")
            assert_true(torch.equal(state, generator.get_state()), "the state afterwards is not the generator's")


@check("C6", share=4, try_this="weights([(3,), (3,)], 1)")
def check_list_differs(student, rng):
    """The tensors of one list differ"""
    made = student.weights([(4, 5)] * 3, rng.integer(0, 10**6))
    for i, one in enumerate(made):
        assert_tensor(one, "a weight")
        for other in made[:i]:
            assert_true(not torch.equal(one, other), "two tensors of one list have the same numbers")


@check("C7", share=1, try_this="compare torch.get_rng_state() before and after the call")
@pytest.mark.parametrize("name", [*FUNCTIONS, "carry_on"])
def check_global_generator(student, probe, name):
    """The global generator is as before"""
    given = (torch.Generator().get_state(), 4) if name == "carry_on" else (*arguments(name), 7)
    kept = probe.leaves_generators(getattr(student, name), *given)
    assert_true(kept is True, f"`{name}` changed the state of a global generator")


@check("C8", category="memory", share=2, try_this="t = torch.zeros(2); noisy(t, 1); print(t)")
def check_arguments_stay(student, rng):
    """Leaves t and shapes as they are"""
    assert_does_not_mutate(student.noisy, rng.normal(3, 4), 5, what="t")
    for function, given in ((student.weights, [(2, 3), (4,)]), (student.carry_on, torch.Generator().get_state())):
        with assert_unchanged(given, what="shapes or state"):
            function(given, 3)
