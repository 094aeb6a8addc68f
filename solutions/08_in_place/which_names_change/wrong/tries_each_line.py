"""You let the lines run and write down what comes out; predict first, and try them afterwards.

caught by: predicted
"""

import torch

CHANGES = ["a += 1", "a = a + 1", "a.add_(1)", "a.add(1)", "a = a.mul_(2)", "a = torch.sin(a)", "torch.sin(a, out=a)"]
CHANGES += ["a[0][1] = 7", "a[[0]][0, 1] = 7"]
CALLS = ["clone()", "detach()", "detach().clone()", "view(6)", "to(torch.float32)", "to(torch.float64)"]
COPIES = [f"b = a.{call}" for call in CALLS] + ["b = a[:, 1]", "b = a[a > 2]", "b = a * 1"]


def sees(first, second):
    names = {"torch": torch, "a": torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}
    exec(first, names)
    before = names["b"].tolist()
    exec(second, names)
    return names["b"].tolist() != before


ANSWERS = {line: sees("b = a", line) for line in CHANGES} | {line: sees(line, "a.zero_()") for line in COPIES}
