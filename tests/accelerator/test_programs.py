"""Programs as students write them for CUDA, where it differs from the CPU in who may be on the host."""

from __future__ import annotations

import pytest
import torch
from accelerator.modes import grad_of, in_mode
from torch import nn
from torch.nn import functional
from torch.nn.utils import rnn

from grader import accelerator


@in_mode("cuda")
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_packed_sequences(name: str) -> None:
    """Lengths stay on the host, and so do the sizes of batches; numbers and gradients are those of the CPU."""
    torch.manual_seed(0)
    module = getattr(nn, name)(4, 3, 2, batch_first=True, bidirectional=True)
    lengths = torch.tensor([3, 5])

    def run(x: torch.Tensor) -> list[torch.Tensor]:
        module.zero_grad()
        packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        assert packed.batch_sizes.device.type == "cpu"
        y, back = rnn.pad_packed_sequence(module(packed)[0], batch_first=True)
        assert back.tolist() == [3, 5]
        y.pow(2).sum().backward()
        return [y, *(grad_of(one).clone() for one in (x, *module.parameters()))]

    x = torch.randn(2, 5, 4)
    there = run(x.clone().requires_grad_())
    module.cuda()
    here = run(x.cuda().requires_grad_())
    for mine, asked in zip(here, there, strict=True):
        torch.testing.assert_close(mine.cpu(), asked)


@in_mode("cuda")
def test_ctc_loss_takes_lengths_from_anywhere() -> None:
    """The lengths of `ctc_loss` may be on either device, or plain numbers."""
    scores, targets = torch.randn(5, 2, 4).log_softmax(2), torch.ones(2, 2, dtype=torch.long)
    lengths = torch.tensor([5, 5]), torch.tensor([2, 2])
    asked = functional.ctc_loss(scores, targets, *lengths)
    for given in (lengths, tuple(one.cuda() for one in lengths), ((5, 5), (2, 2))):
        mine = scores.cuda().requires_grad_()
        loss = functional.ctc_loss(mine, targets.cuda(), *given)
        loss.backward()
        torch.testing.assert_close(loss.cpu(), asked)
        assert mine.grad is not None


@in_mode("cuda")
def test_a_list_of_losses() -> None:
    """`torch.tensor` of 0-dim tensors reads each of them, which the host waits for; the result is on the CPU."""
    losses = [torch.full((), float(n), device="cuda:1") for n in range(3)]
    accelerator.reset_counters()
    made = torch.tensor(losses)
    assert (made.tolist(), made.device.type) == ([0.0, 1.0, 2.0], "cpu")
    assert accelerator.counters()["syncs_for"] == {"item": 3}
    assert torch.tensor([losses, losses], device="cuda").shape == (2, 3)
    assert losses[0].new_tensor(losses).device == torch.device("cuda:1")
    assert torch.stack(losses).device == torch.device("cuda:1")


@in_mode("cuda")
def test_a_forgotten_move() -> None:
    """The momentum of an optimizer stays on the CPU when its module is moved, which a step tells as CUDA does."""
    module = nn.Linear(2, 2)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    module(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    module.cuda()
    module(torch.ones(1, 2).cuda()).sum().backward()
    with pytest.raises(RuntimeError, match="at least two devices"):
        optimizer.step()
