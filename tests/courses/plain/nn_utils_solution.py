import torch


def softmax(in_features: torch.Tensor, dim: int) -> torch.Tensor:
    """The softmax along a dim.

    Long text.
    """
    e = (in_features - in_features.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


def cross_entropy(inputs, targets):
    return (inputs.logsumexp(-1) - inputs.gather(-1, targets[:, None])[:, 0]).mean()


def gradient_clipping(parameters, max_norm, eps=1e-6):
    grads = [p.grad for p in parameters if p.grad is not None]
    norm = sum((g**2).sum() for g in grads) ** 0.5
    if norm > max_norm:
        for g in grads:
            g.mul_(max_norm / (norm + eps))
