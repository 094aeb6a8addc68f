"""Scaled dot-product attention by each way that PyTorch may choose, causal and with a mask, in a small block."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Attention(nn.Module):
    """Causal self-attention."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.heads = heads
        self.into, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in self.into(x).chunk(3, -1))
        found = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        out: torch.Tensor = self.out(found.transpose(1, 2).flatten(-2))
        return out


torch.manual_seed(0)
query, key, value = (torch.randn(2, 4, 32, 16).to(DEVICE) for _ in range(3))
for backend in (SDPBackend.MATH, SDPBackend.FLASH_ATTENTION):
    with sdpa_kernel([backend, SDPBackend.MATH]):
        print(f"loss {nn.functional.scaled_dot_product_attention(query, key, value).square().mean().item():.6f}")
mask = torch.ones(32, 32, dtype=torch.bool, device=DEVICE).tril()
print(
    f"loss {nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask).square().mean().item():.6f}"
)

model = Attention(4, 64).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
x = torch.randn(8, 16, 64).to(DEVICE)
for step in range(20):
    loss = nn.functional.mse_loss(model(x), x.roll(1, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        print(f"loss {loss.item():.6f}")
