"""A graph convolution over edges, by gather and index_add, with dropout switched off and a mask of known nodes."""

from __future__ import annotations

import torch
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NODES, EDGES, FEATURES, CLASSES = 300, 1500, 32, 4


class Convolution(nn.Module):
    """Each node gets what its neighbours send."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: torch.Tensor, edges: torch.Tensor, shares: torch.Tensor) -> torch.Tensor:
        messages = (x @ self.weight)[edges[0]] * shares[:, None]
        return torch.zeros(len(x), self.weight.shape[1], device=x.device).index_add(0, edges[1], messages) + self.bias


torch.manual_seed(0)
labels = torch.randint(CLASSES, (NODES,))
features = torch.randn(NODES, FEATURES) + nn.functional.one_hot(labels, FEATURES)
first, second = torch.randint(NODES, (2, EDGES))
alike = labels[first] == labels[second]
loops = torch.arange(NODES).repeat(2, 1)
edges = torch.cat([torch.stack([first[alike], second[alike]]), loops], 1)
degrees = torch.bincount(edges[1], minlength=NODES).float()
shares = (degrees[edges[0]] * degrees[edges[1]]).rsqrt()
known = torch.rand(NODES) < 0.3

layers = nn.ModuleList([Convolution(FEATURES, 16), Convolution(16, CLASSES)]).to(DEVICE)
features, edges, shares, labels, known = (t.to(DEVICE) for t in (features, edges, shares, labels, known))
optimizer = torch.optim.Adam(layers.parameters(), lr=0.02, weight_decay=5e-4)
for epoch in range(30):
    optimizer.zero_grad()
    scores = layers[1](layers[0](features, edges, shares).relu(), edges, shares).log_softmax(1)
    loss = nn.functional.nll_loss(scores[known], labels[known])
    loss.backward()
    optimizer.step()
    if epoch % 10 == 9:
        rest = (scores.argmax(1) == labels)[~known].float().mean()
        print(f"epoch {epoch} loss {loss.item():.6f} of the rest {rest.item():.4f}")
