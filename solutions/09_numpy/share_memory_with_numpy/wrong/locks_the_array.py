"""You make the array read-only, so that nobody writes while you look, and leave it so; whoever fills it next fails.

caught by: only_looks
keeps: tensor_view, array_view
"""


def shares(a, t):
    a.setflags(write=False)
    return np.shares_memory(a, t.numpy())
