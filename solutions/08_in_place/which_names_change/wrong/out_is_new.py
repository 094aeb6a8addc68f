"""You take `out=` for one more name of a new result. It is the tensor into which the result is written.

caught by: three
"""

ANSWERS = {
    "a += 1": True,
    "a = a + 1": False,
    "a.add_(1)": True,
    "a.add(1)": False,
    "a = a.mul_(2)": True,
    "a = torch.sin(a)": False,
    "torch.sin(a, out=a)": False,
    "a[0][1] = 7": True,
    "a[[0]][0, 1] = 7": False,
    "b = a.clone()": False,
    "b = a.detach()": True,
    "b = a.detach().clone()": False,
    "b = a.view(6)": True,
    "b = a[:, 1]": True,
    "b = a[a > 2]": False,
    "b = a.to(torch.float32)": True,
    "b = a.to(torch.float64)": False,
    "b = a * 1": False,
}
