"""A model of letters whose layers are experts, low-rank additions to frozen weights, a cache of keys, top-p samples."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrize
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WIDTH, HEADS, LETTERS, EXPERTS = 32, 4, 24, 4


class LowRank(nn.Module):
    """A weight, and what is learned on top of it."""

    def __init__(self, rows: int, columns: int) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.randn(4, columns) / 10)
        self.b = nn.Parameter(torch.zeros(rows, 4))

    def forward(self, weight: torch.Tensor) -> torch.Tensor:
        """Return the sum of the weight and the product of low rank."""
        return weight + self.b @ self.a


class Experts(nn.Module):
    """Each letter goes to two of the experts, if there is room."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(WIDTH, EXPERTS, bias=False)
        self.up = nn.Parameter(torch.randn(EXPERTS, WIDTH, 2 * WIDTH) / 6)
        self.down = nn.Parameter(torch.randn(EXPERTS, 2 * WIDTH, WIDTH) / 8)
        self.even = torch.zeros(())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the sum of the experts' outputs."""
        flat = x.reshape(-1, WIDTH)
        scores = self.gate(flat)
        if self.training:
            scores = scores + torch.randn_like(scores) * 0.1
        shares, chosen = scores.softmax(-1).topk(2, dim=-1)
        self.even = (functional.one_hot(chosen[:, 0], EXPERTS).float().mean(0) * scores.softmax(-1).mean(0)).sum()
        out = torch.zeros_like(flat)
        for expert in range(EXPERTS):
            row, rank = torch.where(chosen == expert)
            made = functional.gelu(flat[row] @ self.up[expert], approximate="tanh") @ self.down[expert]
            out.index_add_(0, row, made * shares[row, rank, None])
        return out.view_as(x)


class Block(nn.Module):
    """Attention, then experts."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.qkv, self.out, self.experts = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), Experts()

    def forward(self, x: torch.Tensor, kept: dict[str, torch.Tensor] | None = None) -> torch.Tensor:
        """Return the next representation; `kept` caches the keys and values of earlier tokens."""
        parts = self.qkv(self.one(x)).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind(0)
        if kept is not None:
            k = kept["k"] = torch.cat([kept["k"], k], 2) if kept else k
            v = kept["v"] = torch.cat([kept["v"], v], 2) if len(kept) > 1 else v
        seen = functional.scaled_dot_product_attention(
            q, k, v, is_causal=x.shape[1] > 1, dropout_p=0.1 if self.training else 0.0
        )
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        made: torch.Tensor = x + functional.dropout(self.experts(self.two(x)), 0.1, self.training)
        return made


def policy(_: object, operator: object, *args: object, **options: object) -> CheckpointPolicy:
    """Keep the results of products, and compute all others again."""
    kept = operator in (torch.ops.aten.mm.default, torch.ops.aten.addmm.default)
    return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE


torch.manual_seed(0)
known = nn.Embedding(LETTERS, WIDTH)
blocks = nn.ModuleList(Block() for _ in range(2))
for block in blocks:
    parametrize.register_parametrization(block.qkv, "weight", LowRank(3 * WIDTH, WIDTH))  # type: ignore[arg-type]
    block.qkv.parametrizations.weight.original.requires_grad_(False)  # type: ignore[union-attr]
model = nn.ModuleDict({"known": known, "blocks": blocks}).to(DEVICE)
learned = [parameter for parameter in model.parameters() if parameter.requires_grad]
optimizer = torch.optim.AdamW(learned, lr=5e-3, fused=True)
schedule = torch.optim.lr_scheduler.SequentialLR(
    optimizer,
    [
        torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3),
        torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 4),
    ],
    milestones=[3],
)
text = (torch.arange(400) ** 2 // 7 % LETTERS).to(DEVICE)
for step in range(8):
    start = torch.randint(380, (6,)).tolist()
    batch = torch.stack([text[i : i + 17] for i in start])
    x = known(batch[:, :-1])
    for block in blocks:
        x = checkpoint(block, x, use_reentrant=False, context_fn=lambda: create_selective_checkpoint_contexts(policy))
    loss = functional.cross_entropy((x @ known.weight.T).flatten(0, 1), batch[:, 1:].flatten())
    even: Any = sum(block.experts.even for block in blocks)  # type: ignore[union-attr, misc]
    total = loss + 0.01 * even
    total.backward()
    norm = torch.nn.utils.get_total_norm([p.grad for p in learned if p.grad is not None])
    optimizer.step()
    optimizer.zero_grad()
    schedule.step()
    print(f"step {step} loss {loss.item():.6f} loss {norm.item():.6f}")

model.eval()
caches: list[dict[str, torch.Tensor]] = [{} for _ in blocks]
given = text[None, :5]
with torch.inference_mode():
    for _ in range(12):
        x = known(given)
        for block, kept in zip(blocks, caches, strict=True):
            x = block(x, kept)
        chances, order = ((x[:, -1] @ known.weight.T) / 0.8).softmax(-1).sort(descending=True)
        chances = chances.masked_fill(chances.cumsum(-1) - chances > 0.9, 0)
        picked = torch.multinomial(chances / chances.sum(-1, keepdim=True), 1)
        given = order.gather(1, picked)
        print(f"letter {given.item()} loss {chances.gather(1, picked).item():.6f}")
