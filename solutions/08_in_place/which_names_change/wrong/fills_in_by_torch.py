"""You compute the answers with torch, which this file may not use; without it, ANSWERS stays empty. Predict them.

caught by: each_line
breaks: C1, C2, C3, C4
"""

import torch

LINES = ["a += 1", "a = a + 1", "a.add_(1)", "a.add(1)", "a = a.mul_(2)", "a = torch.sin(a)", "torch.sin(a, out=a)"]
LINES += ["a[0][1] = 7", "a[[0]][0, 1] = 7", "b = a.clone()", "b = a.detach()", "b = a.detach().clone()"]
LINES += ["b = a.view(6)", "b = a[:, 1]"]
LINES += ["b = a[a > 2]", "b = a.to(torch.float32)", "b = a.to(torch.float64)", "b = a * 1"]
ANSWERS = {}
for line in LINES:
    a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    names = {"a": a, "b": a, "torch": torch}
    exec(line, names)
    before = names["b"].clone() if line.startswith("b =") else torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    if line.startswith("b ="):
        a.zero_()
    ANSWERS[line] = not torch.equal(names["b"], before)
