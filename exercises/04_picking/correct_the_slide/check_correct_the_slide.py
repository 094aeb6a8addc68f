import torch

from grader.check import after_call, allclose, assert_close, assert_tensor, assert_true, check

WEEK = [[11.0, 12.0, 13.0, 14.0], [21.0, 22.0, 23.0, 24.0], [31.0, 32.0, 33.0, 34.0]]


@check("C1", share=1)
def check_two_rows(student):
    """The first 2 rows of 3"""
    assert_close(student.first_rows(torch.tensor(WEEK), 2), torch.tensor(WEEK[:2]))


@check("C2", share=1)
def check_two_columns(student):
    """The first 2 columns of 4"""
    assert_close(student.first_cols(torch.tensor(WEEK), 2), torch.tensor([[11.0, 12.0], [21.0, 22.0], [31.0, 32.0]]))


@check("C3", category="shape", share=1)
def check_last_day(student):
    """The last row, as a table of one row and as a vector"""
    assert_close(student.last(torch.tensor(WEEK), True), torch.tensor(WEEK[2:]), "the result for keep=True")
    assert_close(student.last(torch.tensor(WEEK), False), torch.tensor(WEEK[2]), "the result for keep=False")


@check("C4", category="memory", share=1)
def check_write_shows(student):
    """A write to the first rows shows in t"""
    t = torch.tensor(WEEK)
    rows = student.first_rows(t, 2)
    assert_tensor(rows)
    rows.fill_(0.0)
    assert_true(
        (t == 0.0).any(), "after rows = first_rows(t, 2) and rows.fill_(0.0), there is no 0 in t: rows is a copy"
    )


@check("C5", share=1)
def check_set_two_columns(student):
    """Puts 7 in the first 2 columns of 4"""
    t, expected = torch.tensor(WEEK), torch.tensor([[7.0, 7.0, *row[2:]] for row in WEEK])
    result = student.set_first_cols_(t, 2, 7.0)
    if not allclose(result, expected):  # a changed copy costs points below, and none here
        assert_close(after_call(t), expected, "t, afterwards,")


@check("C6", category="memory", share=1)
def check_same_object(student):
    """Changes t itself, and returns it"""
    t = torch.tensor(WEEK)
    result = student.set_first_cols_(t, 2, 7.0)
    assert_tensor(result)
    assert_true(result is after_call(t), "the result is another tensor than t; change t, and return t")
