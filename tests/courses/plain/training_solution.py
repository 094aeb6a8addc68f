import numpy as np
import torch


def get_batch(dataset, batch_size, context_length, device="cpu"):
    starts = np.random.randint(0, len(dataset) - context_length, batch_size)
    x = torch.stack([torch.as_tensor(dataset[s : s + context_length]) for s in starts])
    y = torch.stack([torch.as_tensor(dataset[s + 1 : s + 1 + context_length]) for s in starts])
    return x.to(device), y.to(device)


class Windows(torch.utils.data.Dataset):
    def __init__(self, data, n):
        self.data, self.n = data, n

    def __len__(self):
        return len(self.data) - self.n

    def __getitem__(self, i):
        if i >= len(self):
            raise IndexError
        return self.data[i : i + self.n], self.data[i + 1 : i + 1 + self.n]


def train_epoch(model, loader, optimizer, loss_fn, verbose=False):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    if verbose:
        print("loss", total)
    return total


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        return float(sum(((model(x) - y) ** 2).sum() for x, y in loader))
