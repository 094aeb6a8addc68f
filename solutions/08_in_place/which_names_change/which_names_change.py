ANSWERS = {
    "a += 1": True,  # in place, like add_
    "a = a + 1": False,  # a is a name of the sum now, b of the old tensor
    "a.add_(1)": True,  # in place
    "a.add(1)": False,  # the sum is dropped
    "a = a.mul_(2)": True,  # mul_ returns a itself
    "a = torch.sin(a)": False,  # a new tensor
    "torch.sin(a, out=a)": True,  # written to where a lies
    "a[0][1] = 7": True,  # a[0] is a view
    "a[[0]][0, 1] = 7": False,  # a[[0]] is a copy
    "b = a.clone()": False,  # a copy
    "b = a.detach()": True,  # no history, the same memory
    "b = a.detach().clone()": False,  # no history, a copy
    "b = a.view(6)": True,  # a view
    "b = a[:, 1]": True,  # a view
    "b = a[a > 2]": False,  # a mask copies
    "b = a.to(torch.float32)": True,  # a itself: nothing to convert
    "b = a.to(torch.float64)": False,  # a copy in another dtype
    "b = a * 1": False,  # a new tensor
}
