"""You take `b = a` for a copy. An assignment copies nothing; it is one more label on the same tensor.

caught by: pair[add]
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
    "b = a.detach()": True,
    "b = a.detach().clone()": False,
    "b = a.view(6)": True,
    "b = a[:, 1]": True,
    "b = a[a > 2]": False,
    "b = a.to(torch.float32)": True,
    "b = a.to(torch.float64)": False,
    "b = a * 1": False,
}
