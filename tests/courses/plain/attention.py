import math

import pytest
import torch
import torch.nn as nn

from student_code.attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention


@pytest.fixture
def model():
    torch.manual_seed(0)
    return MultiHeadAttention(d_model=16, num_heads=4)


@pytest.fixture(scope="module")
def batch():
    torch.manual_seed(1)
    return torch.randn(2, 5, 16)


class TestScaledDotProduct:
    @pytest.mark.parametrize("heads", [1, 2])
    def test_matches_torch(self, heads):
        q, k, v = (torch.randn(heads, 5, 8) for _ in range(3))
        got = scaled_dot_product_attention(q, k, v)
        want = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(8), dim=-1) @ v
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)

    def test_mask(self):
        q = torch.ones(1, 3, 2)
        out = scaled_dot_product_attention(q, q, torch.eye(3)[None], mask=causal_mask(3))
        assert torch.allclose(out[0, 0], torch.tensor([1.0, 0.0, 0.0]))


def test_causal_mask():
    mask = causal_mask(4)
    assert mask.dtype == torch.bool
    assert mask.shape == (4, 4)
    assert mask.tolist()[0] == [True, False, False, False]


def test_forward_shape(model, batch):
    model.eval()
    with torch.no_grad():
        out = model(batch)
    assert out.shape == batch.shape


def test_is_module(model):
    assert isinstance(model, nn.Module)
    n_params = sum(p.numel() for p in model.parameters())
    assert n_params == 4 * (16 * 16)


def test_gradients_flow(model, batch):
    model(batch).sum().backward()
    for name, p in model.named_parameters():
        assert p.grad is not None, f"{name} has no gradient"


def test_save_and_load(model, batch, tmp_path):
    torch.save(model.state_dict(), tmp_path / "model.pt")
    other = MultiHeadAttention(16, 4)
    other.load_state_dict(torch.load(tmp_path / "model.pt"))
    torch.testing.assert_close(model(batch), other(batch))


def test_dropout_is_off_by_default(model, batch):
    assert torch.equal(model(batch), model(batch))
