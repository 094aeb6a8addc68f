"""The timed calls keep their results in a dict; Python's own `sum` is the loop."""

found = {}


def _loop(x):
    found["loop"] = sum(x)


def _whole(x):
    found["sum"] = x.sum()


def compare_sums(x, Timer):
    names = {"_loop": _loop, "_whole": _whole, "x": x}
    loop = Timer(stmt="_loop(x)", globals=names).adaptive_autorange()
    whole = Timer(stmt="_whole(x)", globals=names).adaptive_autorange()
    return {
        "loop": loop.median,
        "sum": whole.median,
        "speedup": loop.median / whole.median,
        "totals": (found["loop"], found["sum"]),
    }
