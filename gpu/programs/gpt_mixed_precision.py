"""A small GPT, trained as usual on a GPU: pinned batches, autocast, scaled and accumulated gradients, clipping."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HEADS, WIDTH, LENGTH, LETTERS = 2, 32, 16, 27


class Block(nn.Module):
    """Attention and a small net, each beside a way around it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attention, self.back = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.inner = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        q, k, v = self.attention(self.norm(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.back(seen.transpose(1, 2).reshape(batch, length, WIDTH))
        out: torch.Tensor = x + self.inner(self.after(x))
        return out


class Model(nn.Module):
    """Letters and places in, scores of the next letter out."""

    def __init__(self) -> None:
        super().__init__()
        self.letters, self.places = nn.Embedding(LETTERS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, LETTERS, bias=False)
        self.head.weight = self.letters.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[1], device=x.device)
        scores: torch.Tensor = self.head(self.blocks(self.letters(x) + self.places(places)))
        return scores


torch.manual_seed(0)
text = torch.randint(LETTERS, (4000,)).cumsum(0) % LETTERS
model = Model().to(DEVICE)
decayed = [p for p in model.parameters() if p.dim() > 1]
others = [p for p in model.parameters() if p.dim() < 2]
groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
optimizer = torch.optim.AdamW(groups, lr=1e-2, fused=DEVICE == "cuda")
scaler = torch.amp.GradScaler(DEVICE, enabled=DEVICE == "cuda")
for step in range(12):
    for _ in range(2):
        starts = torch.randint(len(text) - LENGTH - 1, (8,))
        x = torch.stack([text[i : i + LENGTH] for i in starts])
        y = torch.stack([text[i + 1 : i + LENGTH + 1] for i in starts])
        if DEVICE == "cuda":
            x, y = x.pin_memory().to(DEVICE, non_blocking=True), y.pin_memory().to(DEVICE, non_blocking=True)
        with torch.autocast(DEVICE, dtype=torch.float16, enabled=DEVICE == "cuda"):
            loss = functional.cross_entropy(model(x).flatten(0, 1), y.flatten()) / 2
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    print(f"step {step} loss {2 * loss.item():.6f}")
