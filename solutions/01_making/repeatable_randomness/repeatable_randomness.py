"""also right: right_in_float64, detached"""

import torch


def of(seed):
    return torch.Generator().manual_seed(seed)


def weights(shapes, seed):
    generator = of(seed)
    return [0.02 * torch.randn(shape, generator=generator) for shape in shapes]


def split(n, k, seed):
    order = torch.randperm(n, generator=of(seed))
    return order[:k], order[k:]


def noisy(t, seed):
    dtype = t.dtype if t.is_floating_point() else torch.float32
    return t + torch.rand(t.shape, dtype=dtype, generator=of(seed))


def refill_(t, seed):
    return t.uniform_(generator=of(seed))


def carry_on(state, k):
    generator = torch.Generator()
    generator.set_state(state)
    return torch.rand(k, generator=generator), generator.get_state()
