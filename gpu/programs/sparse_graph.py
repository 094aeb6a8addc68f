"""A graph convolution by a sparse matrix of neighbours, as the well-known one does it, with accuracy at the end."""

from __future__ import annotations

import torch
from torch import nn

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
NODES, FEATURES, CLASSES = 200, 24, 4


class Convolution(nn.Module):
    """What a node's neighbours hold, each weighed by the sparse matrix."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.empty(inputs, outputs)), nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x: torch.Tensor, neighbours: torch.Tensor) -> torch.Tensor:
        return torch.spmm(neighbours, torch.mm(x, self.weight)) + self.bias


torch.manual_seed(0)
labels = torch.randint(CLASSES, (NODES,))
features = torch.randn(NODES, FEATURES) + 2 * nn.functional.one_hot(labels, FEATURES)
edges = torch.rand(NODES, NODES) < 0.05 * (labels[:, None] == labels) + 0.002
dense = (edges | edges.T | torch.eye(NODES, dtype=torch.bool)).float()
neighbours = (dense / dense.sum(1, keepdim=True)).to_sparse().coalesce().to(DEVICE)
features, labels = features.to(DEVICE), labels.to(DEVICE)
known = torch.arange(NODES, device=DEVICE) < 60

first, second = Convolution(FEATURES, 16).to(DEVICE), Convolution(16, CLASSES).to(DEVICE)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02, weight_decay=5e-4)
for epoch in range(40):
    optimizer.zero_grad()
    out = nn.functional.log_softmax(second(torch.relu(first(features, neighbours)), neighbours), 1)
    loss = nn.functional.nll_loss(out[known], labels[known])
    loss.backward()
    optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1}, loss {loss.item():.6f}")
right = (out.argmax(1) == labels)[~known].float().mean()
print(f"of those that were not known {right.item():.0%} are right")
