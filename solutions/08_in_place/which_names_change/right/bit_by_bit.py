"""A dict that is filled bit by bit."""

ANSWERS = {f"b = a.{call}": True for call in ("detach()", "view(6)", "to(torch.float32)")}
ANSWERS |= {f"b = a.{call}": False for call in ("clone()", "detach().clone()", "to(torch.float64)")}
ANSWERS.update({"b = a[:, 1]": True, "b = a[a > 2]": False, "b = a * 1": False, "a.add_(1)": True, "a.add(1)": False})
ANSWERS.update({"a += 1": True, "a = a + 1": False, "a = a.mul_(2)": True, "a = torch.sin(a)": False})
ANSWERS["torch.sin(a, out=a)"] = ANSWERS["a[0][1] = 7"] = not ANSWERS["a.add(1)"]
ANSWERS["a[[0]][0, 1] = 7"] = False
