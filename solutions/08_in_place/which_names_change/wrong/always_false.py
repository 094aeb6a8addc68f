"""You answer False for every line, so you say that no name ever sees the other. Ask each line whether it writes into a.

caught by: two_changes
breaks: C2, C3
"""

ANSWERS = {
    "a += 1": False,
    "a = a + 1": False,
    "a.add_(1)": False,
    "a.add(1)": False,
    "a = a.mul_(2)": False,
    "a = torch.sin(a)": False,
    "torch.sin(a, out=a)": False,
    "a[0][1] = 7": False,
    "a[[0]][0, 1] = 7": False,
    "b = a.clone()": False,
    "b = a.detach()": False,
    "b = a.detach().clone()": False,
    "b = a.view(6)": False,
    "b = a[:, 1]": False,
    "b = a[a > 2]": False,
    "b = a.to(torch.float32)": False,
    "b = a.to(torch.float64)": False,
    "b = a * 1": False,
}
