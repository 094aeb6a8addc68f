"""You save memory by a loop over the stations. There are many of them; loop over what there are few of.

caught by: no_loop_at_scale[pairwise_lean]
keeps: pairwise
"""


def pairwise_lean(a, b):
    table = a.new_empty(len(a), len(b))
    for row, point in zip(table, a, strict=True):
        row[:] = (point - b).square().sum(1).sqrt()
    return table
