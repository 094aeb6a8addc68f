import torch

from grader.check import as_number, as_tuples, assert_isinstance, assert_true, assert_values, check

CLOSE = {"rtol": 1e-3, "atol": 1e-4}
LR, EPOCHS = 0.025, 12
BEST = "print(net.state_dict()) after each epoch, and after fit, with a large lr"


def pairs(rng, weight, sizes):
    """Batches of the given sizes, each further from the line than the one before."""
    xs = [rng.normal(size, 3) for size in sizes]
    return [(x, x @ weight + 0.5 + 0.3 * i) for i, x in enumerate(xs)]


def checked(rng, weight):
    """Batches for validation. Their losses differ by constants, so that every mean is smallest for the same weights."""
    x = rng.normal(20, 3)
    y = x @ weight + 0.5
    rows = ((2 * times, 1.0 + i) for i, times in enumerate((1, 3, 2)))
    return [(x.repeat(2 * n, 1), torch.cat([y + far, y - far]).repeat(n)) for n, far in rows]


def case(rng):
    """Arguments of `fit`. The steps go past the weights that are best for the validation data, which are halfway."""
    weight = 2 + rng.uniform(3)
    start = [rng.normal(3) / 10, rng.normal() / 10, 1 + rng.uniform() / 4]
    return start, pairs(rng, weight * start[2], (16, 6, 24, 10)), checked(rng, weight * start[2] / 2), LR, EPOCHS


def both(student, reference, probe, rng, **more):
    arguments = case(rng)
    expected = probe.trained(reference.fit, *arguments, **more)
    return probe.trained(student.fit, *arguments, **more), expected


def column(run, place):
    """The training losses, 0, or the validation losses, 1."""
    rows = as_tuples(run["history"])
    pairs = isinstance(rows, tuple) and all(isinstance(row, tuple) and len(row) == 2 for row in rows)
    assert_true(pairs, "the result is not a list of pairs")
    return tuple(float(as_number(row[place], "a loss")) for row in rows)


@check("C1", share=4, try_this="fit(net, mse, [(x, y)], [(x, y)], 0.1, 3), next to torch.optim.SGD")
def check_steps(student, reference, probe, rng):
    """Steps like gradient descent, with several batches, and ignores what was in grad before"""
    start, batches, _, lr, _ = case(rng)
    for times, stale in ((1, False), (2, False), (1, True)):
        arguments = start, batches * times, batches, lr, 1  # one epoch, so that which one is best does not matter
        got, expected = (probe.trained(f, *arguments, stale)["after"] for f in (student.fit, reference.fit))
        for name in ("weight", "bias"):
            assert_values(got[name], expected[name], f"the {name} afterwards", **CLOSE)


@check("C2", category="memory", share=2, try_this="w = net.weight; fit(net, ...); w is net.weight, w.data_ptr()")
def check_in_place(student, probe, rng):
    """Writes into the parameters, and leaves frozen ones alone"""
    start, *rest = case(rng)
    frozen = start[2].clone()
    run = probe.trained(student.fit, start, *rest)
    assert_true(run["same"] is True, "a parameter of the model is another tensor than before")
    assert_true(run["in place"] is True, "a parameter has other memory than before; write into the memory that it has")
    assert_true(
        as_tuples(run["leaves"]) == (True, True, False), "a parameter is not a leaf, or its `requires_grad` changed"
    )
    for after in (run["after"], probe.trained(student.fit, start, *rest, stale="frozen ones too")["after"]):
        assert_values(after["scale"], frozen, "the frozen parameter", rtol=0.0, atol=0.0)


@check("C3", share=4, try_this="fit(net, mse, [(torch.ones(1, 1), torch.zeros(1)), (x, y)], [(x, y)], 0.0, 1)")
def check_losses(student, reference, probe, rng):
    """The mean losses of batches of different sizes"""
    runs = both(student, reference, probe, rng)
    for place, what in enumerate(("training", "validation")):
        got, expected = (column(run, place) for run in runs)
        assert_values(got, expected, f"the list of {what} losses", **CLOSE)


@check("C4", category="gradient", share=4, try_this="print self.training in the forward of a model of your own")
def check_modes(student, probe, rng):
    """Trains in training mode; validates in evaluation mode and without a graph, and stays there"""
    run = probe.trained(student.fit, *case(rng))
    modes = [training for training, _, _ in run["runs"]]
    assert_true(False in modes, "no batch runs in evaluation mode")
    assert_true(modes.count(True) >= 4 * EPOCHS, "a training batch runs in evaluation mode")
    assert_true(modes.count(True) <= 4 * EPOCHS, "more runs than one for each training batch are in training mode")
    assert_true(run["training"] is False, "the model is in training mode after the call")
    graphs = [graph for training, graph, _ in run["runs"] if not training]
    assert_true(not any(graphs), "a graph is recorded in validation; switch gradients off")


@check("C5", share=4, try_this=BEST)
def check_best(student, reference, probe, rng):
    """Ends with the best weights"""
    *arguments, _, _ = case(rng)
    # Steps that are too large make each epoch worse than the one before, by both losses: only who ends with the last
    # weights differs there. With the others, the training loss is smallest in the last epoch.
    for lr, epochs, when in ((2.0, 3, "after steps that are too large"), (LR, EPOCHS, "afterwards")):
        got, expected = (probe.trained(f, *arguments, lr, epochs)["after"] for f in (student.fit, reference.fit))
        for name in ("weight", "bias"):
            assert_values(got[name], expected[name], f"the {name} {when}", **CLOSE)


@check("C5", share=1, try_this=BEST)
def check_buffers(student, probe, rng):
    """Ends with the buffers of the best epoch"""
    *arguments, lr, epochs = case(rng)
    for step, what in ((lr, "afterwards,"), (1e-7, "after small steps,")):
        run = probe.trained(student.fit, *arguments, step, epochs)
        losses = column(run, 1)
        best = losses.index(min(losses)) + 1  # by the losses that the student measured
        counted = sum(row[0] for row in run["runs"][: len(run["runs"]) // epochs * best])
        assert_values(run["after"]["batches"], torch.tensor(float(counted)), f"the buffer that counts batches, {what}")


@check("C6", category="memory", share=3, try_this="fit with 1000 batches, and with 10: how much memory does it take?")
def check_graphs(student, probe, rng):
    """Keeps no graph of many batches"""
    start, batches, validation, _, _ = case(rng)
    run = probe.trained(student.fit, start, batches * 5, validation * 3, 0.001, 3)
    assert_isinstance(run["history"], list, "the result")
    assert_true(
        max((row[2] for row in run["runs"]), default=0) <= 1, "graphs of earlier batches are alive in a later one"
    )
    assert_true(run["alive"] == 0, "a graph is alive after the call")


@check("C6", category="performance", share=1, try_this="count how often the forward of a model of your own runs")
def check_once(student, probe, rng):
    """Runs the model once for each batch"""
    run = probe.trained(student.fit, *case(rng))
    assert_true(len(run["runs"]) == 7 * EPOCHS, "the model does not run once for each batch of an epoch")
