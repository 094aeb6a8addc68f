"""The global generator, which is put back afterwards."""

import torch


def weights(shapes, seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return [torch.randn(shape) * 0.02 for shape in shapes]


def split(n, k, seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        order = torch.rand(n).argsort()
    return tuple(order.split([k, n - k]))


def noisy(t, seed):
    t = t if t.dtype.is_floating_point else t.to(torch.float32)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.rand_like(t) + t


def refill_(t, seed):
    state = torch.get_rng_state()
    torch.manual_seed(seed)
    t.copy_(torch.rand(t.shape, dtype=t.dtype))
    torch.set_rng_state(state)
    return t


def carry_on(state, k):
    with torch.random.fork_rng():
        torch.set_rng_state(state)
        return torch.rand(k), torch.get_rng_state()
