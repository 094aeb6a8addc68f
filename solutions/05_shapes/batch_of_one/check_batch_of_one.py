import torch

from grader.check import (
    changed,
    check,
    gradients,
    is_tensor,
    is_view_of,
    keeps_arguments,
    raises,
    require,
    same_shape,
    same_values,
)

BATCH = "unbatch(torch.zeros(1, 1, 3)).shape, unbatch(torch.zeros(1, 0)).shape, unbatch(torch.zeros(1)).shape"
WRITES = "v = torch.zeros(3); column(v).fill_(7.0); print(v)"
VIEWS = "img = torch.zeros(3, 4); as_batch(img).fill_(7.0); print(img)"
IN_PLACE = "img = torch.zeros(3, 4); batch = as_batch_(img); batch is img, img.shape"


def pictures(rng):
    """Tensors of 0 to 4 dims, some of them of size 1 or 0, some with gaps or other strides."""
    a, b, c = (torch.randperm(4, generator=rng)[:3] + 2).tolist()
    for shape in ((), (a,), (1, b), (c, 1, a), (b, 0, 2), (a, b, c), (1, c, 1, b), (1, 1)):
        yield rng.normal(*shape)
    yield rng.normal(a, b, 2 * c)[:, 1:, ::2]
    yield rng.normal(c, b, a).permute(2, 0, 1)


def numbers(t):
    """All numbers in reading order, told before the call."""
    return torch.tensor(t.flatten().tolist())


def has_numbers(yours, shape, asked, what):
    """The result is a tensor of this shape, with these numbers in this order."""
    is_tensor(yours, what)
    same_shape(yours, shape, what)
    same_values(yours, asked.reshape(shape), what)


@check("C1", category="shape", share=2, try_this="as_batch(torch.tensor(5.0)).shape, as_batch(torch.zeros(2, 0)).shape")
def check_as_batch(student, rng):
    """Adds a dim in front, for any shape"""
    for img in pictures(rng):
        shape, asked = (1, *img.shape), numbers(img)
        has_numbers(student.as_batch(img), shape, asked, "the result of `as_batch`")


@check("C2", category="shape", share=3, try_this=BATCH)
def check_unbatch(student, rng):
    """Removes the first dim, and no other"""
    for picture in pictures(rng):
        out, asked = picture[None], numbers(picture)
        has_numbers(student.unbatch(out), tuple(picture.shape), asked, "the result of `unbatch`")


@check("C3", category="error", share=2, try_this="unbatch(torch.zeros(3, 1)), unbatch(torch.zeros(0, 4))")
def check_refuses(student, rng):
    """Refuses a batch of none or of many"""
    many = rng.integer(2, 5)
    raises(student.unbatch, rng.normal(many, 3), error=ValueError, case="a batch of many")
    raises(student.unbatch, rng.normal(many, 1, 1), error=ValueError, case="a batch of many pictures of one pixel")
    raises(student.unbatch, rng.normal(many), error=ValueError, case="many numbers")
    raises(student.unbatch, rng.normal(0, 1, 4), error=ValueError, case="a batch of none")


@check("C4", category="shape", share=2, try_this="column(torch.tensor([5.0])), column(torch.empty(0)).shape")
def check_column(student, rng):
    """Makes columns of many numbers, of one, of none"""
    for n in (rng.integer(3, 8), 1, 0):
        v = rng.normal(n)
        asked = numbers(v)
        has_numbers(student.column(v), (n, 1), asked, "the result of `column`")
    row = rng.normal(3, 4)[:, 1]
    asked = numbers(row)
    has_numbers(student.column(row), (3, 1), asked, "the result of `column` for a column of a table")


def gives_views(function, *arguments):
    """What comes back is a view, through which gradients go."""
    for argument in arguments:
        yours = keeps_arguments(function, argument, what="the argument")
        is_tensor(yours)
        is_view_of(yours, argument, f"the result of `{function}`")
    back = gradients(function, arguments[0].clone())[0]
    require(back is not None, "no gradient flows back to the argument")


@check("C5", category="memory", share=2, try_this=VIEWS)
def check_views(student, rng):
    """as_batch and unbatch give views"""
    picture = rng.normal(3, 4, 5)
    turned = picture.transpose(0, 2)
    gives_views(student.as_batch, picture, turned)
    gives_views(student.unbatch, picture[None], turned[None])


@check("C5", category="memory", share=1, try_this=WRITES)
def check_column_view(student, rng):
    """column gives a view"""
    v = rng.normal(6)
    gives_views(student.column, v, v[::2])


@check("C6", category="memory", share=3, try_this=IN_PLACE)
def check_in_place(student, rng):
    """as_batch_ changes the picture itself"""
    for picture in (rng.normal(3, 4, 2), rng.normal(4, 3).T, rng.normal()):
        shape, asked, window = tuple(picture.shape), numbers(picture), picture.view(picture.shape)
        yours = student.as_batch_(picture)
        is_tensor(yours)
        require(yours is changed(picture), "the result is another tensor than img; change img itself, and return it")
        has_numbers(picture, (1, *shape), asked, "img, afterwards,")
        is_view_of(picture, window, "img, afterwards,", "what it was")
