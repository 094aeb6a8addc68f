"""Your table has a column for each id; a row is asked.

caught by: parameters
breaks: C1, C2, C3
"""

import torch


class Embedding(torch.nn.Module):
    def __init__(self, count, dim):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(dim, count))

    def forward(self, ids):
        return self.weight.T[ids]
