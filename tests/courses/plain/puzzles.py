import pytest
import torch

from solution import *

torch.manual_seed(0)


def arange(n):
    return torch.tensor(range(n))


SIZES = [1, 3, 5]


@pytest.mark.parametrize("n", SIZES)
def test_ones(n):
    assert torch.equal(ones(n), torch.ones(n))


def test_sum():
    a = torch.tensor([1, 2, 3])
    out = sum_(a)
    assert out.shape == (1,)
    assert out.dtype == torch.int64
    assert torch.allclose(out, torch.tensor([6]))


def test_outer():
    a = torch.randint(0, 10, (4,))
    b = torch.randint(0, 10, (3,))
    result = outer(a, b)
    assert result.shape == torch.Size([4, 3])
    assert torch.allclose(result, a[:, None] * b[None, :]), "outer is wrong"


def test_diff():
    """Running differences"""
    a = torch.randint(-5, 5, (arange(7).shape[0],))
    assert torch.equal(diff(a, 7), torch.cat([a[:1], a[1:] - a[:-1]]))


@pytest.mark.xfail(reason="optional")
def test_pad_to():
    a = torch.rand(3)
    assert pad_to(a, 3, 5)[3:].sum() == 0


def test_where_no_loop(monkeypatch):
    def forbidden(*args, **kwargs):
        raise AssertionError("torch.where is not allowed")

    monkeypatch.setattr(torch, "where", forbidden)
    q = torch.tensor([True, False])
    assert where(q, torch.tensor([1, 2]), torch.tensor([3, 4])).tolist() == [1, 4]
