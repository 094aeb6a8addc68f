"""Functions of autograd that a program writes itself, gradients of each row, of gradients, and of ensembles."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacrev, jvp, stack_module_state, vmap
from torch.utils.checkpoint import checkpoint

device = "cuda" if torch.cuda.is_available() else "cpu"


class Rounded(torch.autograd.Function):
    """Rounds, and lets gradients through where the number is small."""

    @staticmethod
    @torch.amp.custom_fwd(device_type=device, cast_inputs=torch.float32)  # type: ignore[untyped-decorator]
    def forward(ctx: Any, x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        """Return the nearest multiples of the scale."""
        ctx.save_for_backward(x, scale)
        return (x / scale).round().clamp(-8, 7) * scale

    @staticmethod
    @torch.amp.custom_bwd(device_type=device)  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *out: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the gradients of both arguments."""
        x, scale = ctx.saved_tensors
        inside = (x / scale).abs() <= 8
        return out[0] * inside, (out[0] * ((x / scale).round() - x / scale)).sum().reshape(scale.shape)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1)).to(device)
scale = nn.Parameter(torch.full((1,), 0.1, device=device))
x, y = torch.randn(12, 5).to(device), torch.randn(12, 1).to(device)
optimizer = torch.optim.Adagrad([*net.parameters(), scale], lr=0.05)
for _ in range(3):
    with torch.autocast(device, dtype=torch.bfloat16, enabled=False):
        loss = nn.functional.mse_loss(net(Rounded.apply(x, scale)), y)  # type: ignore[no-untyped-call]
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.6f} loss {scale.item():.6f}")

weights = {name: value.detach() for name, value in net.named_parameters()}


def loss_of(given: dict[str, torch.Tensor], row: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Return the loss of a row, with noise in its input."""
    made: torch.Tensor = functional_call(net, given, (row + 0.1 * torch.randn_like(row),))
    return (made - target).square().mean()


for randomness in ("same", "different"):
    each = vmap(grad(loss_of), (None, 0, 0), randomness=randomness)(weights, x, y)
    norms = torch.stack([value.flatten(1).square().sum(1) for value in each.values()]).sum(0).sqrt()
    print(f"{randomness} loss {norms.mean().item():.6f} loss {norms.max().item():.6f}")

models = [nn.Sequential(nn.Linear(5, 4), nn.Dropout(0.5), nn.Linear(4, 1)).to(device) for _ in range(3)]
parameters, buffers = stack_module_state(models)
told = vmap(lambda p, b: functional_call(models[0], (p, b), (x,)), randomness="different")(parameters, buffers)
print(f"ensemble loss {told.std(0).mean().item():.6f}")

smooth = lambda at: net(at).tanh().sum()  # noqa: E731
print(f"jacobian loss {jacrev(net)(x[0]).norm().item():.6f} hessian loss {hessian(smooth)(x[0]).norm().item():.6f}")
print(f"along loss {jvp(net, (x[0],), (torch.ones(5, device=device),))[1].item():.6f}")

places = torch.linspace(0, 1, 16).to(device)[:, None].requires_grad_()
wave = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1)).to(device)
search = torch.optim.LBFGS(wave.parameters(), max_iter=8, line_search_fn="strong_wolfe")


def residual() -> torch.Tensor:
    """Return how far the net is from u'' = -u with u(0) = 0 and u'(0) = 1."""
    search.zero_grad()
    made = checkpoint(wave, places, use_reentrant=False)
    (first,) = torch.autograd.grad(made.sum(), places, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), places, create_graph=True)
    off: torch.Tensor = (second + made).square().mean() + made[0].square().sum() + (first[0] - 1).square().sum()
    off.backward()
    return off


for _ in range(3):
    print(f"residual loss {search.step(residual).item():.6f}")
