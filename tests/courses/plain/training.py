import math
from collections import Counter

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from solution import Windows, evaluate, get_batch, train_epoch


def toy_data(n=64):
    x = torch.linspace(-1, 1, n).unsqueeze(1)
    return TensorDataset(x, 3 * x + 1)


@pytest.fixture
def loader():
    return DataLoader(toy_data(), batch_size=8, shuffle=True)


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Linear(1, 1)


def test_get_batch():
    dataset = np.arange(0, 100)
    context_length = 7
    batch_size = 32
    starting_indices = Counter()
    for _ in range(100):
        x, y = get_batch(dataset=dataset, batch_size=batch_size, context_length=context_length, device="cpu")
        assert x.shape == (batch_size, context_length)
        np.testing.assert_allclose((x + 1).detach().numpy(), y.detach().numpy())
        starting_indices.update(x[:, 0].tolist())
    assert max(starting_indices) == 92
    with pytest.raises((RuntimeError, AssertionError)) as excinfo:
        get_batch(dataset=dataset, batch_size=batch_size, context_length=context_length, device="cuda:99")
    assert "CUDA" in str(excinfo.value)


def test_windows_dataset():
    data = Windows(torch.arange(10), 4)
    assert len(data) == 6
    x, y = data[2]
    assert x.tolist() == [2, 3, 4, 5]
    assert y.tolist() == [3, 4, 5, 6]


def test_windows_in_loader():
    data = Windows(torch.arange(10), 4)
    xs = [x for x, _ in DataLoader(data, batch_size=3)]
    assert xs[0].shape == (3, 4)


def test_train_epoch_learns(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = train_epoch(model, loader, optimizer, nn.MSELoss())
    for _ in range(20):
        last = train_epoch(model, loader, optimizer, nn.MSELoss())
    assert last < first / 10


def test_train_prints_progress(model, loader, capsys):
    train_epoch(model, loader, torch.optim.SGD(model.parameters(), lr=0.1), nn.MSELoss(), verbose=True)
    assert "loss" in capsys.readouterr().out


def test_evaluate_uses_eval_mode(model, loader):
    seen = []
    model.register_forward_hook(lambda m, args, out: seen.append(m.training))
    evaluate(model, loader)
    assert not any(seen)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_on_gpu(model, loader):
    assert math.isfinite(evaluate(model.cuda(), loader))
