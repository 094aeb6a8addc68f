def stepped(Momentum, weights, gradients, lr, beta):
    """The weights after a step with each list of gradients; a gradient may be None."""
    weights = [weight.clone().requires_grad_() for weight in weights]
    optimizer = Momentum(weights, lr=lr, beta=beta)
    for each in gradients:
        for weight, gradient in zip(weights, each):
            weight.grad = gradient
        optimizer.step()
    return [weight.detach() for weight in weights]
