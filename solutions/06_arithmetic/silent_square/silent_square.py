import torch


def mse(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError(f"there are {len(predictions)} predictions and {len(targets)} targets")
    return (predictions - targets).square().mean()


# A view of shape (n,) of a vector or a column.
def as_vector(t: torch.Tensor) -> torch.Tensor:
    is_vector = t.dim() == 1
    is_column = t.dim() == 2 and t.shape[1] == 1
    if not is_vector and not is_column:
        raise ValueError(f"the shape {tuple(t.shape)} is neither (n,) nor (n, 1)")
    return t.reshape(-1)
