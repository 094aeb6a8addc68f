"""A model that writes down how `fit` runs it. Runs beside your code."""

import gc
import weakref

import torch


class Watched(torch.autograd.Function):
    """Passes x on; `alive` holds its part of the graph as long as the graph lives."""

    @staticmethod
    def forward(ctx, x, alive):
        alive.add(ctx)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


class Model(torch.nn.Module):
    """x @ weight * scale + bias, with a frozen scale, and a buffer that counts batches in training mode."""

    def __init__(self, weight, bias, scale, seen):
        super().__init__()
        self.weight = torch.nn.Parameter(weight.clone())
        self.bias = torch.nn.Parameter(bias.clone())
        self.scale = torch.nn.Parameter(scale.clone(), requires_grad=False)
        self.register_buffer("batches", torch.zeros(()))
        self.inner = torch.nn.Identity()  # has a mode of its own, as dropout within a model has
        self.seen = seen

    def forward(self, x):
        self.batches += int(self.inner.training)
        return self.seen(self.inner.training, x @ self.weight * self.scale + self.bias)


def trained(fit, start, batches, validation, lr, epochs, stale=False):
    """What `fit` returns, and what became of the model.

    A row of `runs` says of one run: in training mode, with a graph, and how many graphs were alive before it.
    """
    alive, runs = weakref.WeakSet(), []

    def seen(training, prediction):
        before = len(alive)
        prediction = Watched.apply(prediction, alive)
        runs.append([training, prediction.requires_grad, before])
        return prediction

    targets = [y for _, y in (*batches, *validation)]

    def loss_of(prediction, target):
        if not any(torch.equal(target, y) for y in targets):
            raise ValueError("loss_of takes the prediction first, then y")
        return ((prediction - target) ** 2).mean()

    model = Model(*start, seen)
    held = [(each, each.data_ptr()) for each in model.parameters()]
    if stale:
        for each in model.parameters():
            if each.requires_grad or stale == "frozen ones too":
                each.grad = torch.full_like(each, 7)
    history = fit(model, loss_of, batches, validation, lr, epochs)
    now = list(model.parameters())
    gc.collect()  # what only refers to itself is not kept
    return {
        "history": history,
        "runs": runs,
        "alive": len(alive),
        "training": any(each.training for each in model.modules()),
        "same": len(now) == len(held) and all(one is each for one, (each, _) in zip(now, held, strict=True)),
        "in place": all(each.data_ptr() == place for each, place in held),
        "leaves": [each.is_leaf and each.requires_grad for each in now],
        "after": {name: value.detach().clone() for name, value in model.state_dict().items()},
    }
