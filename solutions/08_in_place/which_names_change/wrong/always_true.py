"""You answer True for every line, so you say that nothing ever makes a copy. Ask each line whether it writes into a.

caught by: two_changes
breaks: C2, C3
"""

ANSWERS = {
    "a += 1": True,
    "a = a + 1": True,
    "a.add_(1)": True,
    "a.add(1)": True,
    "a = a.mul_(2)": True,
    "a = torch.sin(a)": True,
    "torch.sin(a, out=a)": True,
    "a[0][1] = 7": True,
    "a[[0]][0, 1] = 7": True,
    "b = a.clone()": True,
    "b = a.detach()": True,
    "b = a.detach().clone()": True,
    "b = a.view(6)": True,
    "b = a[:, 1]": True,
    "b = a[a > 2]": True,
    "b = a.to(torch.float32)": True,
    "b = a.to(torch.float64)": True,
    "b = a * 1": True,
}
