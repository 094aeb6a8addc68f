import torch


def pick(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return scores.gather(1, labels[:, None])[:, 0]


def best(t: torch.Tensor) -> tuple[float, tuple[int, ...]]:
    places = (t == t.max()).nonzero()  # one row for each place, in reading order
    index = tuple(places[0].tolist())
    return float(t[index]), index
