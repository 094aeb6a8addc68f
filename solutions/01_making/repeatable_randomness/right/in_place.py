"""Tensors that are filled in place."""

import torch


def weights(shapes, seed):
    generator = torch.Generator()
    generator.manual_seed(seed)
    return [torch.empty(shape).normal_(0.0, 0.02, generator=generator) for shape in shapes]


def split(n, k, seed):
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(n, generator=generator).tolist()
    return torch.tensor(order[:k], dtype=torch.long), torch.tensor(order[k:], dtype=torch.long)


def noisy(t, seed):
    noise = torch.empty(t.shape, dtype=t.dtype if t.is_floating_point() else torch.float32)
    return noise.uniform_(generator=torch.Generator().manual_seed(seed)).add(t)


def refill_(t, seed):
    t[...] = torch.rand(t.shape, dtype=t.dtype, generator=torch.Generator().manual_seed(seed))
    return t


def carry_on(state, k):
    generator = torch.Generator()
    generator.set_state(state.clone())
    numbers = torch.empty(k).uniform_(generator=generator)
    return numbers, generator.get_state()
