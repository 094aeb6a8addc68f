"""Q-learning with a memory on the device, a target that follows slowly, then a policy by clipped ratios (PPO)."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.distributions import Categorical

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PLACES, ACTIONS = 6, 3


def world(places: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return where actions lead, and their rewards; the largest reward is that of the end."""
    after = (places + actions - 1).clamp(0, PLACES - 1)
    return after, (after == PLACES - 1).float() - 0.1 * (torch.rand(places.shape, device=DEVICE) < 0.3)


def seen(places: torch.Tensor) -> torch.Tensor:
    """Return the input of a net for a place."""
    return nn.functional.one_hot(places, PLACES).float()


torch.manual_seed(0)
net: nn.Module = nn.Sequential(nn.Linear(PLACES, 32), nn.Tanh(), nn.Linear(32, ACTIONS)).to(DEVICE)
target = copy.deepcopy(net).requires_grad_(False)
optimizer = torch.optim.RMSprop(net.parameters(), lr=3e-3, centered=True)
kept = {
    "place": torch.zeros(256, dtype=torch.long, device=DEVICE),
    "action": torch.zeros(256, dtype=torch.long, device=DEVICE),
    "worth": torch.zeros(256, device=DEVICE),
    "after": torch.zeros(256, dtype=torch.long, device=DEVICE),
}
place = torch.zeros(8, dtype=torch.long, device=DEVICE)
for step in range(40):
    with torch.no_grad():
        best = net(seen(place)).argmax(1)
        chance = torch.rand(8, device=DEVICE) < max(0.1, 1 - step / 20)
        action = torch.where(chance, torch.randint(ACTIONS, (8,), device=DEVICE), best)
    after, worth = world(place, action)
    at = (torch.arange(8, device=DEVICE) + 8 * step) % 256
    for name, value in {"place": place, "action": action, "worth": worth, "after": after}.items():
        kept[name][at] = value
    place = torch.where(torch.rand(8, device=DEVICE) < 0.1, torch.zeros_like(after), after)
    picked = torch.randint(min(256, 8 * (step + 1)), (32,), device=DEVICE)
    old = {name: values[picked] for name, values in kept.items()}
    value = net(seen(old["place"])).gather(1, old["action"][:, None]).squeeze(1)
    with torch.no_grad():
        asked = old["worth"] + 0.9 * target(seen(old["after"])).amax(1)
    loss = nn.functional.smooth_l1_loss(value, asked)
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0, foreach=True)
    optimizer.step()
    with torch.no_grad():
        torch._foreach_lerp_(list(target.parameters()), list(net.parameters()), 0.05)
    if step % 8 == 7:
        print(f"step {step} loss {loss.item():.6f}")

policy, critic = (nn.Linear(PLACES, n, device=DEVICE) for n in (ACTIONS, 1))
learn = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=0.05, foreach=True)
for turn in range(5):
    places, actions, logs, worths = [], [], [], []
    place = torch.randint(PLACES, (16,), device=DEVICE)
    with torch.no_grad():
        for _ in range(6):
            chances = Categorical(logits=policy(seen(place)))
            action = chances.sample()
            places.append(place)
            actions.append(action)
            logs.append(chances.log_prob(action))
            place, worth = world(place, action)
            worths.append(worth)
        values = critic(seen(torch.stack([*places, place]))).squeeze(-1)
        gain = torch.zeros(16, device=DEVICE)
        gains: list[torch.Tensor] = []
        for t in reversed(range(6)):
            gain = worths[t] + 0.9 * values[t + 1] - values[t] + 0.9 * 0.95 * gain
            gains.insert(0, gain)
        better = torch.stack(gains)
        returns = better + values[:-1]
        better = (better - better.mean()) / (better.std() + 1e-8)
    for _ in range(3):
        chances = Categorical(logits=policy(seen(torch.stack(places))))
        ratio = (chances.log_prob(torch.stack(actions)) - torch.stack(logs)).exp()
        gained = torch.min(ratio * better, ratio.clamp(0.8, 1.2) * better).mean()
        off = nn.functional.mse_loss(critic(seen(torch.stack(places))).squeeze(-1), returns)
        loss = off - gained - 0.01 * chances.entropy().mean()
        learn.zero_grad()
        loss.backward()
        learn.step()
    print(f"turn {turn} loss {loss.item():.6f}")
