import torch


def fit(model, loss_of, batches, validation, lr, epochs):
    history, best = [], None
    for _ in range(epochs):
        history.append((train(model, loss_of, batches, lr), validate(model, loss_of, validation)))
        if history[-1][1] == min(loss for _, loss in history):
            best = {name: value.clone() for name, value in model.state_dict().items()}
    model.load_state_dict(best)
    return history


def train(model, loss_of, batches, lr):
    model.train()
    total = samples = 0
    for x, y in batches:
        loss = loss_of(model(x), y)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for w in model.parameters():
                if w.grad is not None:
                    w.sub_(lr * w.grad)
        total += loss.item() * len(x)
        samples += len(x)
    return total / samples


@torch.no_grad()
def validate(model, loss_of, batches):
    model.eval()
    total = samples = 0
    for x, y in batches:
        total += loss_of(model(x), y).item() * len(x)
        samples += len(x)
    return total / samples
