"""Random numbers: given the CPU's stream, the device draws what the CPU draws, operator by operator."""

from __future__ import annotations

from collections.abc import Callable

import torch
from accelerator.modes import in_mode, raises
from torch import nn
from torch.nn import functional

from grader import accelerator
from grader.accelerator.sim import machine

_Draw = Callable[[torch.Tensor], torch.Tensor]


def _operators() -> list[_Draw]:
    x = functional
    whole = nn.TransformerEncoderLayer(6, 2, 8, dropout=0.2, batch_first=True)
    return [
        lambda t: x.dropout(t, 0.3),
        lambda t: x.dropout(t.clone(), 0.3, inplace=True),
        lambda t: x.dropout1d(t, 0.3),
        lambda t: x.dropout2d(t[None], 0.3),
        lambda t: x.alpha_dropout(t, 0.3, training=True),
        lambda t: x.feature_alpha_dropout(t, 0.3, training=True),
        lambda t: x.rrelu(t - 0.5, training=True),
        lambda t: x.gumbel_softmax(t),
        lambda t: x.fractional_max_pool2d(t[None], 2, output_size=2),
        lambda t: x.scaled_dot_product_attention(t[None], t[None], t[None], dropout_p=0.3),
        lambda t: whole.to(t.device)(t),
        lambda t: torch.bernoulli(t),
        lambda t: t.clone().bernoulli_(0.3),
        lambda t: torch.multinomial(t[0], 3),
        lambda t: torch.multinomial(t[0], 9, replacement=True),
        lambda t: torch.poisson(t * 9),
        lambda t: torch.normal(t, t),
        lambda t: t.clone().normal_(),
        lambda t: t.clone().uniform_(-1, 2),
        lambda t: t.clone().random_(3, 90),
        lambda t: t.clone().exponential_(),
        lambda t: t.clone().geometric_(0.3),
        lambda t: t.clone().log_normal_(),
        lambda t: t.clone().cauchy_(),
        lambda t: torch.rand_like(t),
        lambda t: torch.randn_like(t),
        lambda t: torch.randint_like(t, 3, 90),
        lambda t: torch.rand(5, device=t.device),
        lambda t: torch.randn(5, device=t.device),
        lambda t: torch.randint(9, (5,), device=t.device),
        lambda t: torch.randperm(9, device=t.device),
        lambda t: torch.distributions.Dirichlet(t + 0.1).sample(),
    ]


def _drawn(device: str, draw: _Draw, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What an operator draws, after another one, and what comes after it."""
    torch.manual_seed(0)
    torch.rand(3, device=device)
    return draw(given.to(device)).detach().cpu(), torch.rand(3, device=device).cpu()


@in_mode("off")
def test_draws_are_those_of_the_cpu() -> None:
    """Given one stream, all that draws gives the CPU's numbers on the device, and leaves the stream where it does."""
    # As on the CPU, where there is one generator.
    vars(machine)["SimGenerator"] = lambda place: torch.default_generator
    accelerator.enable("cuda")
    given = torch.rand(4, 5, 6)
    for number, draw in enumerate(_operators()):
        for wanted, found in zip(_drawn("cpu", draw, given), _drawn("cuda", draw, given), strict=True):
            assert torch.equal(wanted, found), number


@in_mode("cuda")
def test_a_generator_of_another_device_is_refused_where_it_draws() -> None:
    """What draws nothing looks at no generator, as on CUDA; `poisson` looks first."""
    here, there = torch.Generator(), torch.Generator("cuda")
    for generator, device in ((here, "cuda"), (there, "cpu")):
        refused = f"Expected a '{device}' device type for generator but found '{generator.device.type}'"
        draws: list[Callable[[int], torch.Tensor]] = [
            lambda n, g=generator, d=device: torch.randperm(n, generator=g, device=d),  # type: ignore[misc]
            lambda n, g=generator, d=device: torch.rand(n, generator=g, device=d),  # type: ignore[misc]
            lambda n, g=generator, d=device: torch.empty(n, device=d).normal_(generator=g),  # type: ignore[misc]
            lambda n, g=generator, d=device: torch.bernoulli(torch.ones(n, device=d), generator=g),  # type: ignore[misc]
        ]
        before = generator.get_state()
        for draw in draws:
            assert draw(0).shape == (0,)
            with raises(RuntimeError, refused):
                draw(2)
        with raises(RuntimeError, refused):
            torch.poisson(torch.ones(0, device=device), generator=generator)
        assert torch.equal(generator.get_state(), before)


@in_mode("cuda")
def test_the_generators_of_any_accelerator() -> None:
    """`torch.accelerator.random` of PyTorch 2.14 reads the seeds and states of the device's generators."""
    generators = getattr(torch.accelerator, "random", None)
    if generators is None:
        return
    torch.cuda.manual_seed(5)
    assert generators.initial_seed() == generators.initial_seed("cuda:0") == 5
    assert torch.equal(generators.get_rng_state(1), torch.cuda.get_rng_state(1))
    assert len(generators.get_rng_state_all()) == 2
