"""A training step of GPT-2 (124M) on the virtual clock, beside times of real GPUs.

python gpu/gpt2_step.py [a100-80gb | h100]

The step is that of "Let's reproduce GPT-2 (124M)" by Andrej Karpathy (youtube.com/watch?v=l8pRSuU81PU, June 2024; the
repository is karpathy/build-nanogpt): 16 sequences of 1,024 tokens, attention by products, AdamW, no compiler, on an
A100 with 80 GB. The chapters of the video name the times: "GPUs, mixed precision, 1000ms", "TF32 precision, 333ms" and
"bfloat16, 300ms". The times on an H100 are our own, by `gpu/on_a_gpu.py`, with torch 2.11. Tensors have no
numbers here (they are of PyTorch's kind `meta`), so that a step takes seconds.
"""

from __future__ import annotations

import math
import sys

import torch
from torch import nn
from torch.nn import functional

from grader import accelerator
from grader.accelerator.sim.gpus import spec_of

REAL = {
    "a100-80gb": {"float32": 1000, "TF32": 333, "bfloat16": 300},
    "h100": {"float32": 392, "TF32": 188, "bfloat16": 167},
}
"""Milliseconds for a step."""

_BATCH, _LENGTH, _WIDTH, _HEADS, _LAYERS, _WORDS = 16, 1024, 768, 12, 12, 50257


class Block(nn.Module):
    """A layer of GPT-2."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(_WIDTH), nn.LayerNorm(_WIDTH)
        self.attention, self.out = nn.Linear(_WIDTH, 3 * _WIDTH), nn.Linear(_WIDTH, _WIDTH)
        self.up, self.down = nn.Linear(_WIDTH, 4 * _WIDTH), nn.Linear(4 * _WIDTH, _WIDTH)
        self.register_buffer("mask", torch.ones(_LENGTH, _LENGTH).tril().view(1, 1, _LENGTH, _LENGTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the next representation of all tokens."""
        shape = (_BATCH, _LENGTH, _HEADS, _WIDTH // _HEADS)
        q, k, v = (one.view(shape).transpose(1, 2) for one in self.attention(self.before(x)).split(_WIDTH, 2))
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        scores = scores.masked_fill(self.mask == 0, float("-inf")).softmax(-1)
        x = x + self.out((scores @ v).transpose(1, 2).contiguous().view(_BATCH, _LENGTH, _WIDTH))
        wider: torch.Tensor = functional.gelu(self.up(self.between(x)), approximate="tanh")
        return x + self.down(wider)  # type: ignore[no-any-return]


class GPT(nn.Module):
    """GPT-2, with weights of the last layer that are those of the first."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(_WORDS, _WIDTH), nn.Embedding(_LENGTH, _WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(_LAYERS))
        self.last, self.head = nn.LayerNorm(_WIDTH), nn.Linear(_WIDTH, _WORDS, bias=False)
        self.words.weight = self.head.weight

    def forward(self, tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the loss."""
        x = self.words(tokens) + self.places(torch.arange(_LENGTH, device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return functional.cross_entropy(self.head(self.last(x)).view(-1, _WORDS), targets.view(-1))


def on_device(module: nn.Module) -> None:
    """Put parameters and buffers without numbers on the simulated device."""
    known: dict[int, nn.Parameter] = {}
    for part in module.modules():
        for name, parameter in part._parameters.items():
            if parameter is not None:
                if id(parameter) not in known:
                    known[id(parameter)] = nn.Parameter(accelerator.to_device(parameter.detach()))
                part._parameters[name] = known[id(parameter)]
        for name, buffer in part._buffers.items():
            if buffer is not None:
                part._buffers[name] = accelerator.to_device(buffer)


def milliseconds(precision: str) -> float:
    """Return the virtual time of the second step in a precision."""
    torch.set_float32_matmul_precision("highest" if precision == "float32" else "high")
    with torch.device("meta"):
        model = GPT()
    on_device(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    tokens = accelerator.to_device(torch.empty(_BATCH, _LENGTH, dtype=torch.int64, device="meta"))
    for _ in range(2):
        torch.cuda.synchronize()
        accelerator.reset_counters()
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=precision == "bfloat16"):
            loss = model(tokens, tokens)
        loss.backward()
        optimizer.step()
        torch.cuda.synchronize()
    return float(accelerator.counters()["host_seconds"]) * 1e3


def main(gpu: str = "a100-80gb") -> None:
    """Print the table."""
    accelerator.enable("cuda", indices=1, spec=spec_of(gpu))
    print("| precision | real | virtual clock | apart |\n|---|---|---|---|")
    for precision, real in REAL[gpu].items():
        found = milliseconds(precision)
        print(f"| {precision} | {real} ms | {found:.0f} ms | {found / real - 1:+.0%} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
