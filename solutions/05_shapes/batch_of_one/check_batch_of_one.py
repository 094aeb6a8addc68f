from grader.check import (
    after_call,
    assert_close,
    assert_differentiable,
    assert_does_not_mutate,
    assert_tensor,
    assert_true,
    assert_view,
    check,
    raises,
)

BATCH = "unbatch(torch.zeros(1, 1, 3)).shape, unbatch(torch.zeros(1, 0)).shape, unbatch(torch.zeros(1)).shape"
VIEWS = "img = torch.zeros(3, 4); as_batch(img).fill_(7.0); print(img)"
IN_PLACE = "img = torch.zeros(3, 4); batch = as_batch_(img); batch is img, img.shape"


def pictures(rng):
    """Tensors of 0 to 4 dims, some of them of size 1 or 0, some with gaps or other strides."""
    a, b, c = rng.sizes(3, 2, 5)
    for shape in ((), (a,), (1, b), (c, 1, a), (b, 0, 2), (a, b, c), (1, c, 1, b), (1, 1)):
        yield rng.normal(*shape)
    yield rng.normal(a, b, 2 * c)[:, 1:, ::2]
    yield rng.normal(c, b, a).permute(2, 0, 1)


@check("C1", category="shape", share=2, try_this="as_batch(torch.tensor(5.0)).shape, as_batch(torch.zeros(2, 0)).shape")
def check_as_batch(student, rng):
    """Adds a dim in front, for any shape"""
    for img in pictures(rng):
        batch = img[None]
        assert_close(student.as_batch(img), batch, "the result of `as_batch`")


@check("C2", category="shape", share=3, try_this=BATCH)
def check_unbatch(student, rng):
    """Removes the first dim, and no other"""
    for img in pictures(rng):
        assert_close(student.unbatch(img[None]), img, "the result of `unbatch`")


@check("C3", category="error", share=3, try_this="unbatch(torch.zeros(3, 1)), unbatch(torch.zeros(0, 4))")
def check_refuses(student, rng):
    """Refuses a batch of none or of many"""
    many = rng.integer(2, 5)
    raises(student.unbatch, rng.normal(many, 3), error=ValueError, case="a batch of many")
    raises(student.unbatch, rng.normal(many, 1, 1), error=ValueError, case="a batch of many pictures of one pixel")
    raises(student.unbatch, rng.normal(many), error=ValueError, case="many numbers")
    raises(student.unbatch, rng.normal(0, 1, 4), error=ValueError, case="a batch of none")


@check("C4", category="memory", share=4, try_this=VIEWS)
def check_views(student, rng):
    """as_batch and unbatch give views"""
    for img in (rng.normal(2, 3, 2), rng.normal(2, 3, 2).mT):
        for function, argument in ((student.as_batch, img), (student.unbatch, img[None])):
            view = assert_does_not_mutate(function, argument, what=f"the argument of `{function}`")
            assert_tensor(view)
            assert_view(view, argument, f"the result of `{function}`")
            assert_differentiable(function, argument.clone())


@check("C5", category="memory", share=4, try_this=IN_PLACE)
def check_in_place(student, rng):
    """as_batch_ changes the picture itself"""
    for img in (rng.normal(3, 4, 2), rng.normal(4, 3).T, rng.normal()):
        before, expected = img.view(img.shape), img.clone()[None]
        batch = student.as_batch_(img)
        assert_tensor(batch)
        assert_true(batch is after_call(img), "the result is another tensor than img; change img itself, and return it")
        assert_close(img, expected, "img, afterwards,")
        assert_view(img, before, "img, afterwards,", "what it was")
