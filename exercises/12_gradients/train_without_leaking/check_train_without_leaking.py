import torch

from grader.check import assert_isinstance, assert_no_hidden_code, assert_true, assert_values, check

# A weight w and a bias b, both 0 at first. At x = 1, the gradient of (w x + b - y)² is 2 (w + b - y) for each.
START = [torch.zeros(1), torch.zeros(()), torch.ones(())]
BATCHES = [(torch.tensor([[1.0]]), torch.tensor([4.0]))]


@check("C1", share=1)
def check_two_steps(student, probe):
    """Takes two steps with one weight"""
    # y is 4: w and b go to 0.8, then by 0.1 * 2 * 2.4 further.
    run = probe.trained(student.fit, START, BATCHES * 2, BATCHES, 0.1, 1)
    assert_values(run["after"]["weight"], torch.tensor([1.28]), "the weight after two steps")
    assert_no_hidden_code(student.fit)  # hidden checks cannot judge code that hides what it does


@check("C3", share=1)
def check_history(student, probe):
    """Returns two floats for each of two epochs"""
    history = probe.trained(student.fit, START, BATCHES, BATCHES, 0.1, 2)["history"]
    assert_isinstance(history, list, "the result")
    for losses in history:
        assert_isinstance(losses, tuple, "an item of the result")
        for loss in losses:
            assert_isinstance(loss, float, "a loss")
    assert_values(history, [(16.0, 2.4**2), (2.4**2, 1.44**2)], "the result", rtol=1e-4)


@check("C6", category="memory", share=1)
def check_no_graph_left(student, probe):
    """Leaves no graph alive"""
    run = probe.trained(student.fit, START, BATCHES * 5, BATCHES, 0.01, 2)
    assert_true(
        max(row[2] for row in run["runs"]) <= 1, "graphs of earlier batches are alive when the model runs again"
    )
    assert_true(run["alive"] == 0, "a graph is alive after the call")
