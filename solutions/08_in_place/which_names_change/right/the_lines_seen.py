"""The lines that b sees, and the others."""

SEEN = ["a += 1", "a.add_(1)", "a = a.mul_(2)", "torch.sin(a, out=a)", "a[0][1] = 7"]
SEEN += ["b = a.detach()", "b = a.view(6)", "b = a[:, 1]", "b = a.to(torch.float32)"]
UNSEEN = ["a = a + 1", "a.add(1)", "a = torch.sin(a)", "a[[0]][0, 1] = 7"]
UNSEEN += ["b = a.clone()", "b = a.detach().clone()", "b = a[a > 2]", "b = a.to(torch.float64)", "b = a * 1"]

ANSWERS = dict.fromkeys(SEEN, True) | dict.fromkeys(UNSEEN, False)
