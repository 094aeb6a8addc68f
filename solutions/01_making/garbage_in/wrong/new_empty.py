"""You add to what torch.empty, new_empty or torch.Tensor(sizes) gives: what its last user left. Begin with zeros.

caught by: unset_memory
"""


def running_totals(rain):
    totals = rain.new_empty(rain.shape)
    for hour in range(len(rain)):
        totals[hour:] += rain[hour]
    return totals
