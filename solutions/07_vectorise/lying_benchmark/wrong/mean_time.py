"""You take the mean, not the `median`. Where Timer takes several times, one disturbed run pulls the mean up.

caught by: other_seconds
keeps: add_up
"""


def compare_sums(x, Timer):
    loop = Timer("add_up(x)", globals={"add_up": add_up, "x": x}).blocked_autorange().mean
    whole = Timer("x.sum()", globals={"x": x}).blocked_autorange().mean
    return {"loop": loop, "sum": whole, "speedup": loop / whole, "totals": (add_up(x), x.sum())}
