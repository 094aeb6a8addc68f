"""Functions to take gradients of, and how a call of `grad_of` treats what it is given. Runs beside your code."""

import torch

FUNCTIONS = {
    "product of squares": lambda x, y: (x**2 * y**2).sum(),
    "cubes": lambda a, b: lambda x, y: (a * x**3 + b * x * y).sum(),
    "only the first": lambda a: lambda x, y: (a * x**2).sum(),
    "wave": lambda a: lambda x: (a * x**2 - x**4).sum(),
}


def gradients(grad_of, name, numbers, xs, leaves=False, times=1):
    """The gradients, how often f was called, and whether the caller's tensors are as they were."""
    f = FUNCTIONS[name](*numbers) if numbers else FUNCTIONS[name]
    calls = 0

    def counted(*args):
        nonlocal calls
        calls += 1
        return f(*args)

    for x in xs:
        x.requires_grad_(leaves)
        x.grad = torch.full_like(x, 7) if leaves else None
    for _ in range(times):
        found = grad_of(counted, *xs)
    kept = all(
        x.requires_grad == leaves and (x.grad is not None and bool((x.grad == 7).all()) if leaves else x.grad is None)
        for x in xs
    )
    return found, calls, kept


def beside_another_default(grad_of, name, numbers, xs):
    """The gradients while new tensors are float64, if nobody says another dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        return gradients(grad_of, name, numbers, xs)
    finally:
        torch.set_default_dtype(before)


def words(steeper, name, numbers, x):
    """What `steeper` says of a function."""
    return steeper(FUNCTIONS[name](*numbers), x)
