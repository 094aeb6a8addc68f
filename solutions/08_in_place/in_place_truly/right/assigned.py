"""Written to by an index, and labels that lead to the same tensor."""


def axpy_(y, a, x):
    result = y
    result.add_(x, alpha=a)
    return result


def sine_(t):
    view = t.view_as(t)
    view.sin_()
    return t


def reset_(t):
    t[...] = 0
    return t
