"""One dict for each part, filled line by line."""

CHANGES = {"a += 1": True, "a = a + 1": False, "a.add_(1)": True, "a.add(1)": False}
CHANGES["a = a.mul_(2)"] = not CHANGES["a.add(1)"]
CHANGES.update({"a = torch.sin(a)": False, "torch.sin(a, out=a)": True})
CHANGES["a[0][1] = 7"], CHANGES["a[[0]][0, 1] = 7"] = True, False

COPIES = {f"b = a.{method}": True for method in ("detach()", "view(6)", "to(torch.float32)")}
COPIES |= {f"b = a.{method}": False for method in ("clone()", "detach().clone()", "to(torch.float64)")}
COPIES |= {"b = a[:, 1]": True, "b = a[a > 2]": False, "b = a * 1": False}

ANSWERS = {**COPIES, **CHANGES}
