"""You make the table and take its `diagonal`: right values, for n times the memory; line the tensors up before.

caught by: no_table
keeps: as_vector
"""


def mse(pred, target):
    predictions, targets = as_vector(pred), as_vector(target)
    if len(predictions) != len(targets):
        raise ValueError("different numbers")
    table = predictions[:, None] - targets[None, :]
    return table.square().diagonal().mean()
