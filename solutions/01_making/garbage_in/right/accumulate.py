"""Rows added by itertools and stacked; a copy where there are no rows."""

from itertools import accumulate

import torch


def running_totals(rain):
    rows = list(accumulate(rain))
    return torch.stack(rows) if rows else rain.clone()
