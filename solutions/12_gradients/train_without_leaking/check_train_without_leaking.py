import torch

from grader.check import check, is_instance, number, plain, require, same_values

CLOSE = {"rtol": 1e-3, "atol": 1e-4}
LR, EPOCHS = 0.025, 12
STEPS = "net = torch.nn.Linear(1, 1); fit(net, mse, [(x, y)], [(x, y)], 0.1, 3), next to torch.optim.SGD"
PLACE = (
    "w = net.weight; p = w.data_ptr(); fit(net, mse, [(x, y)], [(x, y)], 0.1, 1); net.weight is w, p == w.data_ptr()"
)
MEANS = "fit(net, mse, [(torch.ones(1, 1), torch.zeros(1)), (torch.ones(3, 1), torch.ones(3))], batches, 0.0, 1)"
MODES = "print self.training and torch.is_grad_enabled() in the forward of a model of your own"
BEST = "print(net.state_dict()) after each epoch, and after fit, with a large lr"
GRAPHS = "fit with 1000 batches, and with 10: how much memory does the process take?"


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
    rows = plain(run["history"])
    pairs = isinstance(rows, tuple) and all(isinstance(row, tuple) and len(row) == 2 for row in rows)
    require(pairs, "the result is not a list of pairs")
    return tuple(float(number(row[place], "a loss")) for row in rows)


def rows_of(run, training):
    return [row for row in run["runs"] if row[0] is training]


@check("C1", share=3, try_this=STEPS)
def check_steps(student, reference, probe, rng):
    """Steps like gradient descent, with several batches"""
    start, batches, _, lr, _ = case(rng)
    for times in (1, 2):  # one epoch, so that which one is best does not matter
        arguments = start, batches * times, batches, lr, 1
        got, expected = (probe.trained(f, *arguments) for f in (student.fit, reference.fit))
        for name in ("weight", "bias"):
            same_values(got["after"][name], expected["after"][name], f"the {name} afterwards", **CLOSE)


@check("C1", share=1, try_this="net.weight.grad = torch.ones(1, 1), before fit")
def check_stale(student, reference, probe, rng):
    """Ignores what was in grad before"""
    start, batches, _, lr, _ = case(rng)
    got, expected = (
        probe.trained(f, start, batches, batches, lr, 1, stale=True)["after"] for f in (student.fit, reference.fit)
    )
    for name in ("weight", "bias"):
        same_values(got[name], expected[name], f"the {name} afterwards", **CLOSE)


@check("C2", category="memory", share=2, try_this=PLACE)
def check_in_place(student, probe, rng):
    """Writes into the parameters, and leaves frozen ones alone"""
    start, *rest = case(rng)
    frozen = start[2].clone()
    run = probe.trained(student.fit, start, *rest)
    require(run["same"] is True, "a parameter of the model is another tensor than before")
    require(run["in place"] is True, "a parameter has other memory than before; write into the memory that it has")
    require(plain(run["leaves"]) == (True, True, False), "a parameter is not a leaf, or its `requires_grad` changed")
    for after in (run["after"], probe.trained(student.fit, start, *rest, stale="frozen ones too")["after"]):
        same_values(after["scale"], frozen, "the frozen parameter", rtol=0.0, atol=0.0)


@check("C3", share=2, try_this=MEANS)
def check_training_loss(student, reference, probe, rng):
    """The mean training loss of batches of different sizes"""
    got, expected = (column(run, 0) for run in both(student, reference, probe, rng))
    same_values(got, expected, "the list of training losses", **CLOSE)


@check("C3", share=2, try_this=MEANS)
def check_validation_loss(student, reference, probe, rng):
    """The mean validation loss of batches of different sizes"""
    got, expected = (column(run, 1) for run in both(student, reference, probe, rng))
    same_values(got, expected, "the list of validation losses", **CLOSE)


@check("C4", category="gradient", share=2, try_this=MODES)
def check_training_mode(student, probe, rng):
    """Trains in training mode, validates in evaluation mode, and stays there"""
    run = probe.trained(student.fit, *case(rng))
    training, validation = len(rows_of(run, True)), len(rows_of(run, False))
    require(validation > 0, "no batch runs in evaluation mode")
    require(training >= 4 * EPOCHS, "a training batch runs in evaluation mode")
    require(training <= 4 * EPOCHS, "a validation batch runs in training mode")
    require(run["training"] is False, "the model is in training mode after the call")


@check("C4", category="gradient", share=2, try_this=MODES)
def check_no_graph_in_validation(student, probe, rng):
    """Records no graph in validation"""
    runs = probe.trained(student.fit, *case(rng))["runs"]
    require(len(runs) == 7 * EPOCHS, "the model does not run once for each batch")
    validation = [row for i, row in enumerate(runs) if i % 7 > 3]
    require(not any(row[1] for row in validation), "a graph is recorded in validation; switch gradients off")


@check("C5", share=4, try_this=BEST)
def check_best(student, reference, probe, rng):
    """Ends with the best weights"""
    got, expected = both(student, reference, probe, rng)
    for name in ("weight", "bias"):
        same_values(got["after"][name], expected["after"][name], f"the {name} afterwards", **CLOSE)


@check("C5", share=1, try_this=BEST)
def check_buffers(student, probe, rng):
    """Ends with the buffers of the best epoch"""
    *arguments, lr, epochs = case(rng)
    for step, what in ((lr, "afterwards,"), (1e-7, "after small steps,")):
        run = probe.trained(student.fit, *arguments, step, epochs)
        losses = column(run, 1)
        best = losses.index(min(losses)) + 1  # by the losses that the student measured
        counted = sum(row[0] for row in run["runs"][: len(run["runs"]) // epochs * best])
        same_values(run["after"]["batches"], torch.tensor(float(counted)), f"the buffer that counts batches, {what}")


@check("C6", category="memory", share=3, try_this=GRAPHS)
def check_graphs(student, probe, rng):
    """Keeps no graph of many batches"""
    start, batches, validation, _, _ = case(rng)
    run = probe.trained(student.fit, start, batches * 5, validation * 3, 0.001, 3)
    is_instance(run["history"], list, "the result")
    require(max((row[2] for row in run["runs"]), default=0) <= 1, "graphs of earlier batches are alive in a later one")
    require(run["alive"] == 0, "a graph is alive after the call")


@check("C6", category="performance", share=1, try_this="count how often the forward of a model of your own runs")
def check_once(student, probe, rng):
    """Runs the model once for each batch"""
    run = probe.trained(student.fit, *case(rng))
    require(len(run["runs"]) == 7 * EPOCHS, "the model does not run once for each batch of an epoch")
