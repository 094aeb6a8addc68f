from itertools import product

import torch

from grader.check import (
    assert_close,
    assert_costs_at_most,
    assert_device,
    assert_does_not_mutate,
    assert_dtype,
    assert_returns_bool,
    assert_true,
    assert_values,
    check,
)

PLACES = ["cpu", 0, 1]


def put(accelerator, tensor, place):
    return tensor if place == "cpu" else accelerator.put(tensor, place)


def name_of(accelerator, place):
    return "cpu" if place == "cpu" else accelerator.device(place)


def weights(rng, rows=5):
    """x, W, b and scale on the CPU, and the result."""
    n, d = rng.integers(2, 6, 2)
    x, W, b, scale = rng.normal(rows, n), rng.normal(n, d), rng.normal(d), rng.normal()
    return x, W, b, scale, (x @ W + b) * scale


@check("C1", category="device", share=9, device="sim", try_this="x = torch.ones(2, 2); affine(x, x, x[0], x[0, 0])")
def check_affine(student, accelerator, rng):
    """The result lies where x lies, for weights on any device"""
    for place, first, second in product(PLACES, repeat=3):
        x, W, b, scale, expected = weights(rng)
        there = put(accelerator, x, place), put(accelerator, W, first), put(accelerator, b, second)
        y = student.affine(*there, scale)
        assert_values(y, expected, "the result of `affine`", rtol=1e-4, atol=1e-5)
        assert_device(y, name_of(accelerator, place), "the result of `affine`")


@check("C2", category="performance", share=3, device="sim", try_this='count copies for x on "cuda:0", W on "cuda:1"')
def check_copies(student, accelerator, rng):
    """Copies no more than W and b"""
    for place, rows in product(PLACES, (1, 50)):  # x is smaller than W, or larger
        for first, second in ((place, place), (1, place), (place, 0), (0, 1), ("cpu", 1)):
            x, W, b, scale, _ = weights(rng, rows)
            there = put(accelerator, x, place), put(accelerator, W, first), put(accelerator, b, second)
            moved = [t for t, at in ((W, first), (b, second)) if at != place]
            size = sum(t.numel() * t.element_size() for t in moved)
            counts = assert_costs_at_most(student.affine, (*there, scale), transfers=len(moved), transferred=size)
            assert_true(copied(counts) <= len(moved), "W or b is copied although it lies where x is, or twice")


def copied(counts):
    """How many copies a call made, on one device as well."""
    return sum(counts.ops[name] for name in ("_to_copy", "copy_", "clone"))


def stages_of(rng, accelerator, x, places):
    """Stages that lie at places, and what comes out in the end."""
    stages = []
    for place in places:
        W, b = rng.normal(x.shape[1], x.shape[1]), rng.normal(x.shape[1])
        stages.append((put(accelerator, W, place), put(accelerator, b, place)))
        x = torch.relu(x @ W + b)
    return stages, x


@check("C3", category="device", share=4, device="sim", try_this="x = torch.eye(2); pipeline(x, [(x, -x[0])])")
def check_pipeline(student, accelerator, rng):
    """Goes through stages on any devices"""
    for start, places in (("cpu", (0, 1)), (1, (0,)), (0, (1, 1, "cpu")), (1, ("cpu", 0, 1, 0)), ("cpu", ("cpu",))):
        x = rng.normal(3, 4)
        stages, expected = stages_of(rng, accelerator, x, places)
        y = student.pipeline(put(accelerator, x, start), stages)
        assert_values(y, expected, "the result of `pipeline`", rtol=1e-4, atol=1e-4)
        assert_device(y, name_of(accelerator, places[-1]), "the result of `pipeline`")
    for place in PLACES:
        x = put(accelerator, rng.normal(2, 2), place)
        assert_true(student.pipeline(x, []) is x, "without stages, the result is not x itself")


@check("C4", category="performance", share=4, device="sim", try_this="count the copies for stages on 0, 0, 1 and 1")
def check_one_copy_each(student, accelerator, rng):
    """Moves the activations, not the weights"""
    for start, places, copies in ((0, (0, 0, 1, 1), 1), ("cpu", (0, 1, 0), 3), (1, (1, 1), 0), (0, ("cpu", 1), 2)):
        x = rng.normal(1, 6)
        stages, _ = stages_of(rng, accelerator, x, places)
        there = put(accelerator, x, start)
        counts = assert_costs_at_most(student.pipeline, (there, stages), transfers=copies, transferred=24 * copies)
        # One more may copy x at the beginning: that is for C3.
        assert_true(copied(counts) <= copies + 1, "something is copied although it lies where the stage is")


@check("C5", share=3, try_this="causal_mask(torch.zeros(4, 2, 3, 3)), causal_mask(torch.zeros(0, 0)).shape")
def check_mask(student, rng):
    """Masks of several sizes, and for scores with batches"""
    for front in ((), (2,), (3, 1), (0,), (2, 0)):
        for n in (0, 1, rng.integer(2, 7)):
            expected = torch.ones(n, n, dtype=torch.bool).triu(1)
            assert_close(student.causal_mask(rng.normal(*front, n, n)), expected, "the mask")


@check("C5", category="device", share=4, device="sim", try_this='causal_mask(torch.zeros(2, 2, device="meta")).device')
def check_mask_there(student, accelerator, rng):
    """Makes the mask on the device of scores"""
    for place in PLACES:
        scores = put(accelerator, rng.normal(2, 5, 5), place)
        assert_device(student.causal_mask(scores), name_of(accelerator, place), "the mask")
        assert_costs_at_most(student.causal_mask, (scores,), transfers=0)


@check("C6", category="device", share=4, device="sim", try_this='lies_on(torch.ones(2), "meta")')
def check_lies_on(student, accelerator, rng):
    """Knows devices by kind and by index"""
    for place in PLACES:
        t = put(accelerator, rng.normal(3), place)
        for other in PLACES:
            name = name_of(accelerator, other)
            for device in (name, torch.device(name)):
                assert_returns_bool(
                    student.lies_on, t, device, expected=other == place, case="for a device with an index"
                )
        for device in (accelerator.type, torch.device(accelerator.type)):
            assert_returns_bool(
                student.lies_on, t, device, expected=place != "cpu", case="for a device without an index"
            )
        assert_returns_bool(student.lies_on, t, "meta", expected=False, case='for the device "meta"')


@check("C7", category="memory", share=1, try_this="W = torch.ones(2, 2); affine(torch.ones(2, 2), W, W[0], W[0, 0]); W")
def check_arguments_stay(student, rng):
    """Leaves the arguments as they are"""
    x, *others = weights(rng)[:4]
    stages = [(rng.normal(x.shape[1], 3), rng.normal(3)), (rng.normal(3, 2), rng.normal(2))]
    assert_does_not_mutate(student.affine, x, *others, what="x, W, b or scale")
    assert_does_not_mutate(student.pipeline, x, stages, what="x or a stage")
    assert_does_not_mutate(student.causal_mask, rng.normal(4, 4), what="scores")
    assert_does_not_mutate(student.lies_on, x, "cpu", what="t")


@check("C7", category="dtype", share=1, try_this="x = torch.ones(2, 2).double(); affine(x, x, x[0], x[0, 0]).dtype")
def check_dtypes(student, rng):
    """Keeps float32 and float64"""
    for dtype in (torch.float32, torch.float64):
        x, W, b, scale = (t.to(dtype) for t in weights(rng)[:4])
        assert_dtype(student.affine(x, W, b, scale), dtype, "the result of `affine`")
        assert_dtype(student.pipeline(x, [(W, b)]), dtype, "the result of `pipeline`")
