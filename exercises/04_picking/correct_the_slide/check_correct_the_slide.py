import torch

from grader.check import agrees, changed, check, is_tensor, require, same_shape, same_values

WEEK = [[11.0, 12.0, 13.0, 14.0], [21.0, 22.0, 23.0, 24.0], [31.0, 32.0, 33.0, 34.0]]


@check("C1", share=1)
def check_two_rows(student):
    """The first 2 rows of 3"""
    rows = student.first_rows(torch.tensor(WEEK), 2)
    is_tensor(rows)
    same_shape(rows, (2, 4))
    same_values(rows, torch.tensor([[11.0, 12.0, 13.0, 14.0], [21.0, 22.0, 23.0, 24.0]]))


@check("C2", share=1)
def check_two_columns(student):
    """The first 2 columns of 4"""
    columns = student.first_cols(torch.tensor(WEEK), 2)
    is_tensor(columns)
    same_shape(columns, (3, 2))
    same_values(columns, torch.tensor([[11.0, 12.0], [21.0, 22.0], [31.0, 32.0]]))


@check("C3", category="shape", share=1)
def check_last_day(student):
    """The last row, as a table of one row and as a vector"""
    for keep, asked in [
        (True, torch.tensor([[31.0, 32.0, 33.0, 34.0]])),
        (False, torch.tensor([31.0, 32.0, 33.0, 34.0])),
    ]:
        row = student.last(torch.tensor(WEEK), keep)
        is_tensor(row, f"the result for keep={keep}")
        same_shape(row, asked, f"the result for keep={keep}")
        same_values(row, asked, f"the result for keep={keep}")


@check("C4", category="memory", share=1)
def check_write_shows(student):
    """A write to the first rows shows in t"""
    t = torch.tensor(WEEK)
    rows = student.first_rows(t, 2)
    is_tensor(rows)
    rows.fill_(0.0)
    require((t == 0.0).any(), "after rows = first_rows(t, 2) and rows.fill_(0.0), there is no 0 in t: rows is a copy")


@check("C5", share=1)
def check_set_two_columns(student):
    """Puts 7 in the first 2 columns of 4"""
    t, asked = (
        torch.tensor(WEEK),
        torch.tensor([[7.0, 7.0, 13.0, 14.0], [7.0, 7.0, 23.0, 24.0], [7.0, 7.0, 33.0, 34.0]]),
    )
    result = student.set_first_cols_(t, 2, 7.0)
    if not agrees(result, asked):  # a changed copy costs points below, and none here
        same_values(changed(t), asked, "t, afterwards,")


@check("C6", category="memory", share=1)
def check_same_object(student):
    """Changes t itself, and returns it"""
    t = torch.tensor(WEEK)
    result = student.set_first_cols_(t, 2, 7.0)
    is_tensor(result)
    require(result is changed(t), "the result is another tensor than t; change t, and return t")
