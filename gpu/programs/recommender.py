"""Sparse embeddings with SparseAdam, sums over segments, quantiles as a loss, and counts of who bought what."""

from __future__ import annotations

import torch
from torch import nn

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)
USERS, THINGS = 40, 60
users = torch.randint(USERS, (300,)).to(device)
things = torch.randint(THINGS, (300,)).to(device)
stars = (users % 5 + things % 3).float() + torch.randn(300).to(device)
bags = nn.EmbeddingBag(THINGS, 8, mode="mean", sparse=True, device=device)
known = nn.Embedding(USERS, 8, sparse=True, device=device)
head = nn.Linear(16, 3, device=device)
slow = torch.optim.SparseAdam([*bags.parameters(), *known.parameters()], lr=2e-2)
fast = torch.optim.RAdam(head.parameters(), lr=2e-2)
wanted = torch.tensor([0.1, 0.5, 0.9], device=device)

order = torch.argsort(users, stable=True)
each, counts = torch.unique_consecutive(users[order], return_counts=True)
offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)[:-1]])
means = torch.segment_reduce(stars[order], "mean", lengths=counts)
other = torch.zeros(USERS, device=device).scatter_reduce(0, users, stars, "mean", include_self=False)
most = torch.full((USERS,), float("-inf"), device=device).scatter_reduce(0, users, stars, "amax")
print(f"segments loss {means.sum().item():.6f} loss {other[each].sum().item():.6f} loss {most[each].sum().item():.6f}")
for epoch in range(5):
    liked = bags(things[order], offsets)
    place = torch.searchsorted(each, users)
    found = head(torch.cat([known(users), liked[place]], 1)).cumsum(1)
    off = stars[:, None] - found
    loss = torch.maximum(wanted * off, (wanted - 1) * off).mean()
    for optimizer in (slow, fast):
        optimizer.zero_grad()
    loss.backward()
    for optimizer in (slow, fast):
        optimizer.step()  # type: ignore[no-untyped-call]
    print(f"epoch {epoch} loss {loss.item():.6f} covered loss {(off < 0).float().mean(0).sum().item():.6f}")

tables = torch.zeros(USERS, THINGS, device=device).index_put_((users, things), stars, accumulate=True)
near = torch.cdist(tables, tables).fill_diagonal_(float("inf")).topk(3, largest=False)
print(f"near loss {near.values.mean().item():.6f} index loss {near.indices.float().mean().item():.6f}")
seen = torch.bincount(things, weights=stars, minlength=THINGS)
pairs = torch.sparse_coo_tensor(torch.stack([users, things]), stars, (USERS, THINGS)).coalesce()
print(f"counts loss {seen.std().item():.6f} sparse loss {torch.sparse.mm(pairs, seen[:, None]).norm().item():.6f}")
low, spread = torch.quantile(stars, wanted), torch.histc(stars, 6, -2, 8)
print(f"quantiles loss {low.sum().item():.6f} spread loss {spread.var().item():.6f} loss {stars.median().item():.6f}")
U, S, V = torch.linalg.svd(tables, full_matrices=False)
print(f"rank loss {S[:5].sum().item():.6f} loss {(U[:, :5] * S[:5] @ V[:5] - tables).norm().item():.6f}")
