"""A model of letters: padded and packed texts, an LSTM with dropout between layers, tied weights, a sampled text."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn.utils import rnn

DEVICE = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
TEXT = "the device has a stream of its own, and the host has another one; what one draws the other does not"
LETTERS = ["<pad>", *sorted(set(TEXT))]


class Letters(nn.Module):
    """What letter comes next."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.known = nn.Embedding(len(LETTERS), width, padding_idx=0, max_norm=3.0)
        self.drop = nn.Dropout(0.2)
        self.steps = nn.LSTM(width, width, 2, batch_first=True, dropout=0.3)
        self.out = nn.Linear(width, len(LETTERS))
        self.out.weight = self.known.weight

    def forward(
        self, x: torch.Tensor, lengths: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Return the scores of each place, and the state at the end."""
        packed = rnn.pack_padded_sequence(self.drop(self.known(x)), lengths, batch_first=True, enforce_sorted=False)
        made, state = self.steps(packed, state)
        padded, _ = rnn.pad_packed_sequence(made, batch_first=True, total_length=x.shape[1])
        return self.out(padded), state


torch.manual_seed(0)
numbers = torch.tensor([LETTERS.index(letter) for letter in TEXT])
parts = [numbers[i : i + 9 + i % 7] for i in range(0, len(TEXT) - 16, 6)]
model = Letters(32).to(DEVICE)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
for epoch in range(4):
    model.train()
    total = 0.0
    for i in torch.randperm(len(parts)).split(4):
        chosen = [parts[j] for j in i]
        lengths = torch.tensor([len(part) - 1 for part in chosen])
        batch = rnn.pad_sequence(chosen, batch_first=True).to(DEVICE)
        scores, _ = model(batch[:, :-1], lengths)
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        total += loss.item()
    schedule.step(total)
    print(f"epoch {epoch} loss {total / len(parts):.6f} perplexity loss {math.exp(total / 5):.4f}")

model.eval()
given, state, said = numbers[None, :3].to(DEVICE), None, []
with torch.no_grad():
    for _ in range(20):
        scores, state = model(given, torch.tensor([given.shape[1]]), state)
        best = scores[:, -1].topk(5)
        pick = torch.multinomial(best.values.softmax(-1), 1)
        given = best.indices.gather(1, pick)
        said.append(LETTERS[given.item()])
        print(f"loss {-best.values.log_softmax(-1).gather(1, pick).item():.6f}")
print("".join(said))
