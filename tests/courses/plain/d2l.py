import numpy as np
import pytest
import torch
from torch import nn

import d2l_homework as hw


@pytest.fixture
def image():
    torch.manual_seed(42)
    return torch.randn(1, 1, 6, 8)


def reference_corr2d(X, K):
    return torch.nn.functional.conv2d(X[None, None], K[None, None])[0, 0]


def assert_same(Y, X, K):
    np.testing.assert_allclose(Y.numpy(), reference_corr2d(X, K).numpy(), rtol=1e-4)


class TestCorr2d:
    kernel = torch.tensor([[0.0, 1.0], [2.0, 3.0]])

    def test_book_example(self):
        X = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0]])
        assert_same(hw.corr2d(X, self.kernel), X, self.kernel)
        assert hw.corr2d(X, self.kernel).tolist() == [[19.0, 25.0], [37.0, 43.0]]

    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_shapes(self, image, k):
        Y = hw.corr2d(image[0, 0], torch.ones(k, k))
        assert Y.shape == (6 - k + 1, 8 - k + 1)

    def test_rejects_large_kernel(self):
        with pytest.raises(ValueError):
            hw.corr2d(torch.ones(2, 2), torch.ones(3, 3))


def test_conv2d_layer(image):
    layer = hw.Conv2D(kernel_size=(1, 2))
    assert isinstance(layer, nn.Module)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, -1.0]]))
    Y = layer(image[0, 0])
    np.testing.assert_allclose(Y.detach().numpy(), (image[0, 0][:, :-1] - image[0, 0][:, 1:]).numpy(), 1e-5, 1e-6)


def test_linreg_synthetic_data():
    w, b = torch.tensor([2.0, -3.4]), 4.2
    X, y = hw.synthetic_data(w, b, 1000)
    assert X.shape == (1000, 2)
    assert tuple(y.shape) == (1000, 1)
    assert abs(float((y - X @ w[:, None] - b).std()) - 0.01) < 0.002


def test_reads_csv(tmp_path):
    path = tmp_path / "house.csv"
    path.write_text("rooms,price\n2,100\nNA,200\n")
    X = hw.load_csv(str(path))
    assert X.dtype is torch.float64
    assert torch.isnan(X[1, 0])
