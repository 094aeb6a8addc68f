import torch

from grader.check import changed, check, is_tensor, require, same_dtype, same_shape, same_values, unchanged


def table(rng, *sizes):
    """Whole numbers, nested like a tensor of these sizes: plain Python, and small enough for every dtype."""
    if not sizes:
        return rng.integer(-99, 99)
    return [table(rng, *sizes[1:]) for _ in range(sizes[0])]


def leaves(value):
    """The numbers in nested lists."""
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list) else [value]


@check("C1", share=2, try_this="to_tensor([[1, 2, 3], [4, 5, 6]])")
def check_places(student, rng):
    """Numbers, lists and tables get their shape"""
    rows, columns = rng.integer(2, 4), rng.integer(5, 7)
    cases = [
        ((columns,), "a list"),
        ((rows, columns), "a table"),
        ((columns, rows), "a table"),
        ((1,), "a list of one number"),
        ((1, columns), "a table of one row"),
        ((rows, 1), "a table of one column"),
        ((0,), "an empty list"),
        ((rows, 0), "a table of empty rows"),
        # Last: who makes a list of every number is told apart from who flattens a table.
        ((), "a number"),
    ]
    for sizes, case in cases:
        readings = table(rng, *sizes)
        asked = torch.tensor(leaves(readings)).reshape(sizes)
        t = student.to_tensor(readings)
        is_tensor(t, f"the result for {case}")
        same_shape(t, sizes, f"the result for {case}")
        same_values(t, asked, f"the result for {case}")


@check("C2", category="dtype", share=2, try_this="to_tensor([True, False]).dtype, to_tensor([1, 2.5]).dtype")
def check_dtypes(student, rng):
    """The dtype follows the numbers"""
    floats = rng.normal(rng.integer(3, 6))
    bools = [value > 0 for value in floats.tolist()]
    cases = [
        (table(rng, 2, 5), torch.int64, "ints"),
        (floats.tolist(), torch.float32, "floats"),
        ([rng.integer(1, 9), *floats.tolist()], torch.float32, "ints among floats"),
        (bools, torch.bool, "bools"),
    ]
    for readings, dtype, case in cases:
        t = student.to_tensor(readings)
        is_tensor(t, f"the result for {case}")
        same_dtype(t, dtype, f"the result for {case}")
    same_values(student.to_tensor(floats.tolist()), floats, "the result for floats")
    large = [2**24 + 1 + 2 * rng.integer(0, 99), 2**53 + 1 + 2 * rng.integer(0, 99)]  # float32, float64 round them
    for case, readings in {"large ints": large, "large ints in a table": [large, large[::-1]]}.items():
        asked = torch.tensor(readings)
        t = student.to_tensor(readings)
        is_tensor(t, f"the result for {case}")
        if t.numel() == asked.numel():  # the places are for C1
            same_values(t.reshape(asked.shape), asked, f"the result for {case}")


@check("C4", share=1, try_this="to_python(torch.zeros(2, 3, dtype=torch.bool))")
def check_back_nested(student, rng):
    """Tensors of 0 to 3 dims come back as plain Python"""
    cases = {
        (): "a tensor of 0 dims",
        (4,): "a vector",
        (1,): "a vector of one number",
        (3, 2): "a matrix",
        (2, 1, 4): "a tensor of 3 dims",
        (0,): "an empty vector",
    }
    for sizes, case in cases.items():
        what = f"the result for {case}"
        for kind in (int, float, bool):
            whole = torch.randint(-9, 9, sizes, generator=rng)
            t = {int: whole, float: whole / 4, bool: whole > 0}[kind]
            asked = t.tolist()
            back = student.to_python(t)
            plain = all(type(leaf) is kind for leaf in leaves(back))
            named = "a plain number" if not sizes else "made of plain lists of plain numbers"
            require(plain, f"{what} is not {named}", f"{back!r}")
            same_values(back, asked, what)


@check("C5", category="memory", share=1, try_this="days = [[1, 2], [3, 4]]; to_tensor(days); print(days)")
def check_kept(student, rng):
    """Leaves the readings and the tensor as they were"""
    readings, day, t = table(rng, 3, 4), table(rng, 5), rng.normal(1, 1, 1)
    with unchanged(readings, day, what="the list"):
        student.to_tensor(readings)
        student.to_tensor(day)
    mixed = [[rng.integer(1, 9), 0.5], [2.5, rng.integer(1, 9)]]
    types = [type(leaf) for leaf in leaves(mixed)]
    with unchanged(mixed, what="the list"):
        student.to_tensor(mixed)
    kept = [type(leaf) for leaf in leaves(changed(mixed))] == types  # 1 and 1.0 are equal
    require(kept, "the ints among the floats were replaced in the list itself")
    with unchanged(t, what="t"):
        student.to_python(t)
