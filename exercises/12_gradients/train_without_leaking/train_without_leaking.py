"""Train without leaking

The loop below trains a model, measures it on data that it has not seen, and returns both losses of each epoch. It runs,
but the steps are wrong, the memory grows with each batch, and the best weights are lost. Repair it, or write it anew.

    >>> fit(model, torch.nn.functional.mse_loss, [(x, y)], [(u, v)], lr=0.1, epochs=2)
    [(3.25, 2.5), (1.5, 1.75)]

C1  `fit(model, loss_of, batches, validation, lr, epochs)` takes a step for each batch, in order, in each epoch: every
    parameter moves by -lr times the gradient of loss_of(model(x), y) for this batch alone. What is in `grad` before the
    call does not count.
C2  Parameters stay the same tensors in the same memory. Those that require no gradient do not change.
C3  `fit` returns a list with a tuple of two floats for each epoch. The first is the mean loss of all training samples,
    before the step of their batch; the second that of all validation samples, after the last step of the epoch.
C4  Training runs in training mode. Validation runs in evaluation mode and records no graph. Afterwards, the model is in
    evaluation mode.
C5  In the end the model has the parameters and buffers of the epoch whose validation loss is smallest.
C6  In each epoch the model runs once for each batch. When it runs, at most the graph of the batch before is alive;
    after the call no graph is.

batches and validation are lists of one or more pairs (x, y) of different lengths. loss_of returns the mean loss of a
pair. epochs is at least 1.
"""

from collections.abc import Callable

import torch

Batches = list[tuple[torch.Tensor, torch.Tensor]]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


# TODO: repair it
def fit(model: torch.nn.Module, loss_of: Loss, batches: Batches, validation: Batches, lr: float, epochs: int):
    history, best = [], None
    for _ in range(epochs):
        total = 0
        for x, y in batches:
            loss = loss_of(model(x), y)
            total += loss
            loss.backward()
            for w in model.parameters():
                if w.requires_grad:
                    w.data = w - lr * w.grad
        losses = [loss_of(model(x), y) for x, y in validation]
        history.append((total / len(batches), sum(losses) / len(losses)))
        if history[-1] == min(history):
            best = model.state_dict()
    model.load_state_dict(best)
    return history
