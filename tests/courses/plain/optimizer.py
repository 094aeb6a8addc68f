import numpy as np
import torch

from adapters import get_adamw_cls, run_get_lr_cosine_schedule
from my_optim import MomentumSGD


def _optimize(opt_class) -> torch.Tensor:
    torch.manual_seed(42)
    model = torch.nn.Linear(3, 2, bias=False)
    opt = opt_class(
        model.parameters(),
        lr=1e-3,
        weight_decay=0.01,
        betas=(0.9, 0.999),
        eps=1e-8,
    )
    # Use 1000 optimization steps for testing
    for _ in range(1000):
        opt.zero_grad()
        x = torch.rand(model.in_features)
        y_hat = model(x)
        y = torch.tensor([x[0] + x[1], -x[2]])
        loss = ((y - y_hat) ** 2).sum()
        loss.backward()
        opt.step()
    return model.weight.detach()


def test_adamw():
    """
    Our reference implementation yields slightly different results than the
    PyTorch AdamW, since there are a couple different ways that you can apply
    weight decay.
    """
    pytorch_weights = _optimize(torch.optim.AdamW)
    actual_weights = _optimize(get_adamw_cls())
    assert torch.allclose(actual_weights, pytorch_weights, atol=1e-4)


def test_momentum():
    w = torch.nn.Parameter(torch.ones(3))
    ours = torch.nn.Parameter(torch.ones(3))
    opt = MomentumSGD([w], lr=0.1, momentum=0.9)
    theirs = torch.optim.SGD([ours], lr=0.1, momentum=0.9)
    for _ in range(5):
        for p, o in ((w, opt), (ours, theirs)):
            o.zero_grad()
            (p**2).sum().backward()
            o.step()
    torch.testing.assert_close(w, ours)


def test_get_lr_cosine_schedule():
    max_learning_rate = 1
    min_learning_rate = 1 * 0.1
    warmup_iters = 7
    cosine_cycle_iters = 21
    expected_lrs = [0, 0.14285714285714285, 0.2857142857142857]
    actual_lrs = [
        run_get_lr_cosine_schedule(
            it=it,
            max_learning_rate=max_learning_rate,
            min_learning_rate=min_learning_rate,
            warmup_iters=warmup_iters,
            cosine_cycle_iters=cosine_cycle_iters,
        )
        for it in range(3)
    ]
    np.testing.assert_allclose(np.array(actual_lrs), np.array(expected_lrs))
