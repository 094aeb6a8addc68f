import torch

from grader.check import (
    assert_close,
    assert_differentiable,
    assert_dtype,
    assert_shape,
    assert_values_unless_wrong_elsewhere,
    assert_view,
    check,
    edge_cases,
)

PICTURE = "img = torch.arange(24).reshape(2, 4, 3)"
CAMERA = "x = torch.rand(5, 4, 6, 3).permute(0, 3, 1, 2); flatten_items(x)[0, :6] == x[0, 0, 0]"


@check("C1", share=3, try_this=f"{PICTURE}; hwc_to_chw(img)[2, 1, 3] == img[1, 3, 2]")
def check_random_pictures(student, rng):
    """Turns random pictures, of any strides"""
    a, b, c = rng.sizes(3)
    pictures = edge_cases(rng, a, b, c, without=("bfloat16", "no elements", "0 dims", "a required gradient")).values()
    for img in (*pictures, rng.normal(a, b, 1), rng.normal(1, b, c)):
        expected = img.permute(2, 0, 1)
        assert_close(student.hwc_to_chw(img), expected, "the result of `hwc_to_chw`")


@check("C2", category="memory", share=2, try_this=f"{PICTURE}; hwc_to_chw(img).fill_(0); print(img)")
def check_view(student, rng):
    """Copies no picture"""
    a, b, c = rng.sizes(3)
    for img in (rng.normal(a, b, c), rng.normal(c, a, b).transpose(0, 1)):
        assert_view(student.hwc_to_chw(img), img, "the result of `hwc_to_chw`", "img")


@check("C3", share=3, try_this="flatten_items(torch.arange(24).reshape(2, 3, 2, 2))")
def check_random_batches(student, rng):
    """Flattens random batches"""
    n, a, b, c = rng.sizes(4)
    for shape in ((n, a, b, c), (1, a, b, c), (c, 1, n, 1), (n, 1, 1, 1)):
        x = rng.whole(0, 255, *shape, dtype=torch.uint8)
        expected = torch.stack([item.flatten() for item in x])
        assert_close(student.flatten_items(x), expected, "the result of `flatten_items`")
    for dtype in (torch.uint8, torch.float64):  # every second item: not contiguous, and `view` takes it all the same
        x = rng.whole(0, 99, 2 * n, a, b, c, dtype=dtype)[::2]
        assert_dtype(student.flatten_items(x), dtype, "the result of `flatten_items` for a batch with gaps")


@check("C4", share=2, try_this=CAMERA)
def check_any_strides(student, rng):
    """Flattens batches of any strides"""
    n, a, b, c = rng.sizes(4)
    camera = rng.normal(n, a, b, c)
    for x in (camera.permute(0, 3, 1, 2), camera.transpose(0, 1), camera[::2, 1:], camera[:, :1].expand(n, a, b, c)):
        plain = x.contiguous()
        assert_values_unless_wrong_elsewhere(  # right, or as wrong as for a contiguous batch
            student.flatten_items(x),
            plain.flatten(1),
            lambda batch=plain: student.flatten_items(batch),
            lambda batch=plain: student.flatten_items(batch + 1),
            "the result of `flatten_items` for other strides",
        )


@check("C5", category="memory", share=3, try_this="x = torch.zeros(2, 1, 1, 3); flatten_items(x).fill_(7.0); print(x)")
def check_no_copy(student, rng):
    """Copies no contiguous batch"""
    for size in (1, rng.integer(2, 5)):
        x = rng.normal(size, *rng.sizes(3))
        assert_view(student.flatten_items(x), x, "the result of `flatten_items`", "x")


@check("C6", category="shape", share=2, try_this="flatten_items(torch.zeros(0, 2, 2, 2)).shape")
def check_empty_batch(student, rng):
    """Flattens an empty batch"""
    a, b, c = rng.sizes(3)
    assert_shape(student.flatten_items(torch.empty(0, a, b, c)), (0, a * b * c))


@check("C7", category="gradient", share=1, try_this="flatten_items(torch.ones(2, 1, 1, 3, requires_grad=True)).grad_fn")
def check_gradients(student, rng):
    """Lets gradients through"""
    assert_differentiable(student.hwc_to_chw, rng.normal(2, 3, 2))
    for x in (rng.normal(2, 1, 3, 2), rng.normal(1, 3, 2, 2).permute(3, 0, 1, 2)):
        assert_differentiable(student.flatten_items, x)
