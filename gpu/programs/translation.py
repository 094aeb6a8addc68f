"""`nn.Transformer` with padded texts, masks, warmed-up rates, smoothed labels, and translation letter by letter."""

from __future__ import annotations

import math

import torch
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PAD, BEGIN, END, WORDS = 0, 1, 2, 20


class Translator(nn.Module):
    """Numbers of words to numbers of words."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.width = width
        self.known = nn.Embedding(WORDS, width, padding_idx=PAD)
        place = torch.arange(32)[:, None] * torch.exp(torch.arange(0, width, 2) * (-math.log(1e4) / width))
        self.register_buffer("places", torch.stack([place.sin(), place.cos()], 2).flatten(1), persistent=False)
        self.drop = nn.Dropout(0.1)
        self.net = nn.Transformer(width, 4, 2, 2, 64, 0.1, batch_first=True, norm_first=False)
        self.out = nn.Linear(width, WORDS)

    def put(self, x: torch.Tensor) -> torch.Tensor:
        """Return the embeddings of words with their positions."""
        made: torch.Tensor = self.drop(self.known(x) * math.sqrt(self.width) + self.places[: x.shape[1]])  # type: ignore[index]
        return made

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Return the scores of the words that come next."""
        later = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=source.device, dtype=torch.bool)
        made = self.net(
            self.put(source),
            self.put(target),
            tgt_mask=later,
            src_key_padding_mask=source == PAD,
            tgt_key_padding_mask=target == PAD,
            memory_key_padding_mask=source == PAD,
            tgt_is_causal=True,
        )
        scores: torch.Tensor = self.out(made)
        return scores


torch.manual_seed(0)
sources = torch.randint(3, WORDS, (48, 8))
lengths = torch.randint(4, 9, (48,))
sources[torch.arange(8) >= lengths[:, None]] = PAD
targets = torch.full((48, 10), PAD)
targets[:, 0] = BEGIN
for row, n in enumerate(lengths.tolist()):
    targets[row, 1 : n + 1] = sources[row, :n].flip(0)
    targets[row, n + 1] = END
model = Translator().to(DEVICE)
for parameter in model.parameters():
    if parameter.dim() > 1:
        nn.init.xavier_uniform_(parameter)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, betas=(0.9, 0.98), eps=1e-9)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min((step + 1) ** -0.5, (step + 1) * 8**-1.5))
criterion = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
for _ in range(4):
    model.train()
    for rows in torch.randperm(48).split(16):
        source, target = sources[rows].to(DEVICE), targets[rows].to(DEVICE)
        loss = criterion(model(source, target[:, :-1]).transpose(1, 2), target[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        print(f"loss {loss.item():.6f}")
model.eval()
with torch.inference_mode():
    source = sources[:6].to(DEVICE)
    memory = model.net.encoder(model.put(source), src_key_padding_mask=source == PAD)
    said = torch.full((6, 1), BEGIN, device=DEVICE)
    for _ in range(9):
        later = nn.Transformer.generate_square_subsequent_mask(said.shape[1], device=DEVICE)
        made = model.net.decoder(model.put(said), memory, tgt_mask=later, memory_key_padding_mask=source == PAD)
        chosen = model.out(made[:, -1]).log_softmax(-1).max(-1)
        said = torch.cat([said, chosen.indices[:, None]], 1)
        print(f"loss {-chosen.values.mean().item():.6f}")
        if (said == END).any(1).all():
            break
print(said.tolist())
