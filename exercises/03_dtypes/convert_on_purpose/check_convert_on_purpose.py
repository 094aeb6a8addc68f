import torch

from grader.check import assert_close, assert_no_hidden_code, assert_tensor, assert_true, assert_values, check, raises


@check("C1", share=1)
def check_three_rounded(student):
    """Rounds three numbers"""
    result = student.to_int(torch.tensor([1.5, 2.5, -1.5]), "round")
    assert_tensor(result)
    assert_values(result, torch.tensor([2, 2, -2]))
    assert_no_hidden_code(student.to_int)  # hidden checks cannot judge code that hides what it does


@check("C2", category="error", share=2)
def check_modes(student):
    """Refuses all other modes"""
    for mode in ("up", "Round", "", "nearest", " floor", "abs", "half"):
        raises(student.to_int, torch.tensor([1.5]), mode, error=ValueError, case=f'the mode "{mode}"')


@check("C3", share=1)
def check_two_bytes(student):
    """Casts 0 and 255 to uint8"""
    assert_close(student.safe_cast(torch.tensor([0, 255]), torch.uint8), torch.tensor([0, 255], dtype=torch.uint8))


@check("C4", category="error", share=1)
def check_256(student):
    """Refuses 256 for uint8"""
    raises(student.safe_cast, torch.tensor([256]), torch.uint8, error=OverflowError, case="256, which does not fit")


@check("C5", category="memory", share=2)
def check_same_dtype(student):
    """Returns x itself if it has the dtype"""
    for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        x = torch.tensor([1, 2], dtype=dtype)
        result = student.safe_cast(x, dtype)
        assert_tensor(result)
        assert_true(result is x, "the result is another tensor than x, which has the dtype already")


@check("C6", share=1)
def check_half_of_two(student):
    """Converts 1.5 and a thousand million to float16"""
    result = student.to_half(torch.tensor([1.5, 1e9]))
    assert_tensor(result)
    assert_values(result, torch.tensor([1.5, 65504.0], dtype=torch.float16), rtol=0.0, atol=0.0)
