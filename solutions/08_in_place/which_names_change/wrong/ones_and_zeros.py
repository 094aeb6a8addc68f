"""You answer with 1 and 0; the values that say yes and no are True and False.

caught by: each_line
"""

ANSWERS = {
    "a += 1": 1,
    "a = a + 1": 0,
    "a.add_(1)": 1,
    "a.add(1)": 0,
    "a = a.mul_(2)": 1,
    "a = torch.sin(a)": 0,
    "torch.sin(a, out=a)": 1,
    "a[0][1] = 7": 1,
    "a[[0]][0, 1] = 7": 0,
    "b = a.clone()": 0,
    "b = a.detach()": 1,
    "b = a.detach().clone()": 0,
    "b = a.view(6)": 1,
    "b = a[:, 1]": 1,
    "b = a[a > 2]": 0,
    "b = a.to(torch.float32)": 1,
    "b = a.to(torch.float64)": 0,
    "b = a * 1": 0,
}
