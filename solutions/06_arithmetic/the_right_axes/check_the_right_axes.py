import torch

from grader.check import (
    allclose,
    assert_differentiable,
    assert_does_not_mutate,
    assert_dtype,
    assert_no_loop,
    assert_tensor,
    assert_true,
    assert_values,
    check,
)

STATS = "channel_stats(torch.arange(24.0).reshape(1, 2, 3, 4)), channel_stats(torch.ones(1, 1, 1, 1))"
SQUARE = "standardize(torch.zeros(1, 2, 2, 2), torch.tensor([1.0, 2.0]), torch.ones(2))"
NORM = "layer_norm(torch.tensor([1.0, 2.0, 6.0])), layer_norm(torch.zeros(2, 3, 1)).shape"
TYPES = "channel_stats(torch.ones(1, 1, 2, 2).byte())[0].dtype"
NORMED_TYPES = "layer_norm(torch.ones(3).double()).dtype"


def stats(student, images):
    result = student.channel_stats(images)
    right = isinstance(result, (tuple, list)) and len(result) == 2
    assert_true(right, "the result of `channel_stats` is not a tuple (mean, std)")
    return result


def has_values(yours, expected, what, rtol=1e-4, atol=1e-4):
    assert_values(yours, expected, what, rtol=rtol, atol=atol)


def all_pictures(rng):
    """Pictures of sizes that all differ or are equal, of one pixel, of one number a channel, and of other strides."""
    n, h, w = rng.sizes(3, low=4)
    for shape in ((n, 3, h, w), (n, n, n, n), (1, 2, h, 3), (n, 1, 1, 1), (1, 3, 1, 1)):
        yield rng.whole(0, 255, *shape, dtype=torch.uint8)
        yield rng.normal(*shape) * 9 + 50
    yield rng.whole(0, 255, n, h, w, 3, dtype=torch.uint8).permute(0, 3, 1, 2)


def deviations(images):
    return images.double().std((0, 2, 3), correction=0)


def standardized(images, mean, std):
    return (images.double() - mean.double()[:, None, None]) / std.double()[:, None, None]


def assert_not_rounded(yours, expected, what, bound):
    """Fail if numbers are near the expected ones, and not equal; others are for other rules."""
    if allclose(yours, expected, rtol=0.0, atol=bound):
        exact = allclose(yours, expected, rtol=1e-10, atol=1e-10)
        assert_true(exact, f"{what} for float64 has fewer right digits than that, as if rounded to float32 on the way")


def normed(x):
    centred = x.double() - x.double().mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()


@check("C1", share=3, try_this=STATS)
def check_mean(student, rng):
    """Takes the mean of each channel over all pictures"""
    for images in all_pictures(rng):
        expected = images.double().mean((0, 2, 3))
        has_values(stats(student, images)[0], expected, "the mean")


@check("C2", share=3, try_this=STATS)
def check_std(student, rng):
    """Takes the standard deviation of each channel over all pictures"""
    for images in (*all_pictures(rng), torch.full((2, 2, 3, 4), 7.0)):
        expected = deviations(images)
        has_values(stats(student, images)[1], expected, "the std")


@check("C2", share=1, try_this="channel_stats(torch.tensor([500.0, 500.1]).reshape(1, 1, 1, 2))")
def check_close_numbers(student, rng):
    """Takes the standard deviation of numbers that lie close together, far from 0"""
    # Each picture a little brighter than the one before: else the mean of their deviations is right or wrong by luck.
    images = rng.normal(4, 3, 5, 6) * 0.05 + 500 + torch.arange(4.0)[:, None, None, None] * 0.03
    expected = deviations(images)
    has_values(stats(student, images)[1], expected, "the std", rtol=0.02, atol=0.0)


@check("C3", share=3, try_this=SQUARE)
def check_standardize(student, rng):
    """Standardizes each channel by its own numbers, also by small ones"""
    for images in all_pictures(rng):
        for scale in (1, 1e-4):
            mean, std = rng.normal(images.shape[1]), (rng.uniform(images.shape[1]) + 0.5) * scale
            expected = standardized(images, mean, std)
            has_values(student.standardize(images, mean, std), expected, "the result of `standardize`")


@check("C4", share=3, try_this=NORM)
def check_layer_norm(student, rng):
    """Normalizes vectors in tensors of 1 to 4 dims"""
    a, b, d = rng.sizes(3)

    def spread(*shape):  # of a large variance, beside which 1e-5 never shows: that is for the next check
        return rng.normal(*shape) + 20 * torch.arange(shape[-1])

    inputs = [spread(*shape) for shape in ((d,), (a, d), (d, d), (a, b, d), (2, a, b, d), (a, 1))]
    turned = spread(b, a, d).permute(2, 1, 0).contiguous().permute(2, 1, 0)
    for x in (*inputs, spread(b, a, d).transpose(0, 1), spread(a, 2 * d)[:, ::2], turned):
        expected = normed(x)
        has_values(student.layer_norm(x), expected, "the result of `layer_norm`")


@check("C4", share=1, try_this="layer_norm(torch.tensor([1.0, 1.001])), layer_norm(torch.ones(4))")
def check_small_variance(student, rng):
    """Adds 1e-5 to the variance, under the root"""
    x = rng.normal(4, 6) * 2e-3
    expected = normed(x)
    has_values(student.layer_norm(x), expected, "the result of `layer_norm`")


@check("C5", category="dtype", share=1, try_this=TYPES)
def check_dtype(student, rng):
    """Gives numbers of channels and pictures as float32, and as float64 for float64"""
    for given, dtype in (("uint8", torch.float32), ("float32", torch.float32), ("float64", torch.float64)):
        images, numbers = rng.whole(0, 9, 2, 3, 4, 5, dtype=getattr(torch, given)), torch.ones(3, dtype=dtype)
        for result, name in zip(stats(student, images), ("the mean", "the std"), strict=True):
            assert_tensor(result, f"{name} for {given} images")
            assert_dtype(result, dtype, f"{name} for {given} images")
        result = student.standardize(images, numbers, numbers)
        assert_tensor(result, f"the result of `standardize` for {given} images")
        assert_dtype(result, dtype, f"the result of `standardize` for {given} images")


@check("C5", category="dtype", share=1, try_this=NORMED_TYPES)
def check_normed_dtype(student, rng):
    """Gives normalized vectors as float32, and as float64 for float64"""
    for expected in (torch.float32, torch.float64):
        assert_dtype(student.layer_norm(rng.normal(3, 4, dtype=expected)), expected, "the result of `layer_norm`")


@check("C5", category="dtype", share=1, try_this="x = torch.rand(1, 1, 2, 3).double(); channel_stats(x)[1] - x.std()")
def check_precise(student, rng):
    """Computes in float64 where the result is float64"""
    images = rng.normal(2, 3, 4, 5, dtype=torch.float64) / 200 + 9
    mean, std = images.mean((0, 2, 3)), deviations(images)
    # What float32 rounds; the std is near 0.005.
    for yours, asked, name, bound in zip(
        stats(student, images), (mean, std), ("mean", "std"), (1e-4, 2e-5), strict=True
    ):
        assert_not_rounded(yours, asked, f"the {name}", bound)
    yours = student.standardize(images, mean, std)
    assert_not_rounded(yours, standardized(images, mean, std), "the result of `standardize`", 4e-4)


@check("C6", category="memory", share=1, try_this="x = torch.tensor([1.0, 3.0]); layer_norm(x); print(x)")
def check_arguments_stay(student, rng):
    """Leaves the arguments as they are"""
    images, mean, std = rng.normal(2, 3, 4, 5), rng.normal(3), rng.uniform(3) + 0.5
    assert_does_not_mutate(student.channel_stats, images, what="images", requiring=False)
    assert_does_not_mutate(student.standardize, images, mean, std, what="images, mean or std", requiring=False)
    assert_does_not_mutate(student.layer_norm, rng.normal(3, 4), what="x")


@check("C6", category="gradient", share=1, try_this="layer_norm(torch.rand(3, requires_grad=True)).requires_grad")
def check_gradient(student, rng):
    """Lets gradients through layer_norm"""
    assert_differentiable(student.layer_norm, rng.normal(3, 4), names=("x",))


@check("C6", category="performance", share=1, try_this="look for a `for` over pictures, channels or vectors")
def check_no_loop(student, rng):
    """No loop over pictures, channels or vectors"""
    few, many = rng.normal(3, 3, 3, 3), rng.normal(60, 60, 6, 60)
    assert_no_loop(student.channel_stats, (few,), (many,))
    assert_no_loop(student.standardize, (few, torch.zeros(3), torch.ones(3)), (many, torch.zeros(60), torch.ones(60)))
    assert_no_loop(student.layer_norm, (rng.normal(4, 4),), (rng.normal(900, 900),))
