import torch

from grader.check import (
    agrees,
    check,
    gradients,
    is_tensor,
    is_view_of,
    keeps_graph,
    require,
    same_dtype,
    same_shape,
    same_values,
)

PICTURE = "img = torch.arange(24).reshape(2, 4, 3)"
CAMERA = "x = torch.rand(5, 4, 6, 3).permute(0, 3, 1, 2); flatten_items(x)[0, :6] == x[0, 0, 0]"


def sizes(rng):
    """Four sizes, all different."""
    return (torch.randperm(5, generator=rng)[:4] + 2).tolist()


def turned(img):
    """The entries of a picture, channel by channel, by plain Python."""
    pixels, (height, width, channels) = img.tolist(), img.shape
    order = [[[pixels[h][w][c] for w in range(width)] for h in range(height)] for c in range(channels)]
    return torch.tensor(order, dtype=img.dtype).reshape(channels, height, width)


def rows_of(x):
    """A row of numbers for each item, by plain Python."""
    rows = [[number for channel in item for line in channel for number in line] for item in x.tolist()]
    return torch.tensor(rows, dtype=x.dtype).reshape(len(rows), x[:1].numel() if len(x) else 0)


def has_order(yours, asked, what):
    """The result is a tensor of this shape and dtype, with these numbers in this order."""
    is_tensor(yours, what)
    same_shape(yours, asked, what)
    same_dtype(yours, asked, what)
    if all_there(yours, asked):
        require(agrees(yours, asked), f"{what} has the right numbers, and they stand in another order")
    same_values(yours, asked, what)


def all_there(yours, asked):
    return agrees(yours.flatten().sort().values, asked.flatten().sort().values)


@check("C1", share=3, try_this=f"{PICTURE}; hwc_to_chw(img)[2, 1, 3] == img[1, 3, 2]")
def check_random_pictures(student, rng):
    """Turns random pictures, of any strides"""
    a, b, c, d = sizes(rng)
    uint8 = torch.randint(0, 256, (a, b, c), generator=rng).to(torch.uint8)
    for img in (uint8, rng.normal(a, b, 1), rng.normal(1, d, c), rng.normal(b, a, 2 * d)[:, 1:, ::2], uint8.mT):
        asked = turned(img)
        yours = student.hwc_to_chw(img)
        has_order(yours, asked, "the result of `hwc_to_chw`")


@check("C2", category="memory", share=2, try_this=f"{PICTURE}; hwc_to_chw(img).fill_(0); print(img)")
def check_view(student, rng):
    """Copies no picture"""
    a, b, c, d = sizes(rng)
    img, turned_before = rng.normal(a, b, c), rng.normal(d, a, b).transpose(0, 1)
    asked = turned(img)
    yours = student.hwc_to_chw(img)
    is_view_of(yours, img, "the result of `hwc_to_chw`", "img")
    if agrees(yours, asked):  # with the numbers in another order, nothing is asked of other strides
        what = "the result of `hwc_to_chw` for other strides"
        is_view_of(student.hwc_to_chw(turned_before), turned_before, what, "img")


@check("C3", share=3, try_this="flatten_items(torch.arange(24).reshape(2, 3, 2, 2))")
def check_random_batches(student, rng):
    """Flattens random batches"""
    n, a, b, c = sizes(rng)
    for shape in ((n, a, b, c), (1, a, b, c), (c, 1, n, 1), (n, 1, 1, 1)):
        x = torch.randint(0, 256, shape, generator=rng).to(torch.uint8)
        asked = rows_of(x)
        has_order(student.flatten_items(x), asked, "the result of `flatten_items`")
    for dtype in (torch.uint8, torch.float64):  # every second item: not contiguous, and `view` takes it all the same
        x = rng.whole(0, 99, 2 * n, a, b, c, dtype=dtype)[::2]
        same_dtype(student.flatten_items(x), dtype, "the result of `flatten_items` for a batch with gaps")


@check("C4", share=2, try_this=CAMERA)
def check_any_strides(student, rng):
    """Flattens batches of any strides"""
    n, a, b, c = sizes(rng)
    camera = rng.normal(n, a, b, c)
    for x in (camera.permute(0, 3, 1, 2), camera.transpose(0, 1), camera[::2, 1:], camera[:, :1].expand(n, a, b, c)):
        asked = rows_of(x)
        yours = student.flatten_items(x)
        is_tensor(yours)
        if not agrees(yours, asked):  # an order or a shape that is wrong for any strides is for other checks
            wrong_anyway = all_there(yours, asked) and agrees(yours, student.flatten_items(x.clone().contiguous()))
            require(wrong_anyway, "`flatten_items` gives other numbers for x than for x.contiguous()")


@check("C5", category="memory", share=2, try_this="x = torch.zeros(2, 1, 1, 3); flatten_items(x).fill_(7.0); print(x)")
def check_no_copy(student, rng):
    """Copies no contiguous batch"""
    for shape in (sizes(rng), (1, *sizes(rng)[1:])):
        x = rng.normal(*shape)
        is_view_of(student.flatten_items(x), x, "the result of `flatten_items`", "x")


@check("C6", category="shape", share=2, try_this="flatten_items(torch.zeros(0, 2, 2, 2)).shape")
def check_empty_batch(student, rng):
    """Flattens an empty batch"""
    _, a, b, c = sizes(rng)
    one = rng.normal(1, a, b, c)
    asked = rows_of(one)
    right_for_one = agrees(student.flatten_items(one), asked)
    yours = student.flatten_items(torch.empty(0, a, b, c))
    is_tensor(yours)
    if right_for_one or yours.numel():  # a shape that is wrong for one item is for other checks
        same_shape(yours, (0, a * b * c))


@check("C7", category="gradient", share=1, try_this="flatten_items(torch.ones(2, 1, 1, 3, requires_grad=True)).grad_fn")
def check_gradients(student, rng):
    """Lets gradients through"""
    keeps_graph(student.hwc_to_chw, rng.normal(2, 3, 4), degree=1)
    keeps_graph(student.flatten_items, rng.normal(2, 3, 4, 5), degree=1)
    gradient = gradients(student.flatten_items, rng.normal(3, 2, 5, 4).permute(3, 0, 1, 2))[0]
    require(gradient is not None, "no gradient flows back to a batch that is not contiguous")
