import torch

from grader.check import (
    after_call,
    assert_dtype,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_unchanged,
    assert_values,
    check,
)


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
        # Last, so that an answer that makes a list of every number differs from one that flattens a table.
        ((), "a number"),
        ((), "the number 0"),  # which is false, as an empty list is
    ]
    for sizes, case in cases:
        readings = 0 if case == "the number 0" else table(rng, *sizes)
        asked = torch.tensor(leaves(readings)).reshape(sizes)
        t = student.to_tensor(readings)
        assert_tensor(t, f"the result for {case}")
        assert_shape(t, sizes, f"the result for {case}")
        assert_values(t, asked, f"the result for {case}")


@check("C2", category="dtype", share=2, try_this="to_tensor([True, False]).dtype, to_tensor([1, 2.5]).dtype")
def check_dtypes(student, rng):
    """The dtype follows the numbers"""
    t = student.to_tensor(rng.integer(2, 9))
    assert_tensor(t, "the result for an int")
    if t.numel() == 1:  # more elements than one are for C1
        assert_dtype(t, torch.int64, "the result for an int")
    floats = rng.normal(rng.integer(3, 6)).tolist()
    large = [2**24 + 1 + 2 * rng.integer(0, 99), 2**53 + 1 + 2 * rng.integer(0, 99)]  # float32, float64 round them
    cases = {
        "ints": (table(rng, 2, 5), torch.int64),
        "floats": (floats, torch.float32),
        "ints among floats": ([rng.integer(1, 9), *floats], torch.float32),
        "bools": ([value > 0 for value in floats], torch.bool),
        "large ints": (large, torch.int64),
        "large ints in a table": ([large[::-1], large[:]], torch.int64),
    }
    for case, (readings, dtype) in cases.items():
        asked = torch.tensor(leaves(readings), dtype=dtype)
        t = student.to_tensor(readings)
        assert_tensor(t, f"the result for {case}")
        assert_dtype(t, dtype, f"the result for {case}")
        if t.numel() == asked.numel():  # the places are for C1
            assert_values(t.flatten().sort().values, asked.sort().values, f"the result for {case}")


@check("C4", share=1, try_this="to_python(torch.zeros(2, 3, dtype=torch.bool))")
def check_back_nested(student, rng):
    """Tensors of 0 to 3 dims come back as plain Python"""
    cases = {
        (): "a tensor of 0 dims",
        (4,): "a vector",
        (3, 2): "a matrix",
        (2, 1, 4): "a tensor of 3 dims",
        (1,): "a vector of one number",
        (0,): "an empty vector",
        (2, 0): "a matrix of empty rows",
    }
    for sizes, case in cases.items():
        what = f"the result for {case}"
        named = "made of plain lists of plain numbers" if sizes else "a plain number"
        whole = rng.whole(-9, 8, *sizes)
        for t in (whole, whole / 4, whole > 0):
            asked = t.tolist()
            back = student.to_python(t)
            plain = {type(leaf) for leaf in leaves(back)} <= {type(leaf) for leaf in leaves(asked)}
            assert_true(plain, f"{what} is not {named}", f"{back!r}")
            assert_values(back, asked, what)


@check("C5", category="memory", share=1, try_this="days = [[1, 2], [3, 4]]; to_tensor(days); print(days)")
def check_kept(student, rng):
    """Leaves the readings and the tensor as they were"""
    mixed = [[rng.integer(1, 9), 0.5], [2.5, rng.integer(1, 9)]]
    for readings in (table(rng, 3, 4), table(rng, 5), mixed):
        with assert_unchanged(readings, what="the list"):
            student.to_tensor(readings)
    kept = [type(leaf) for leaf in leaves(after_call(mixed))] == [int, float, float, int]  # 1 and 1.0 are equal
    assert_true(kept, "the ints among the floats were replaced in the list itself")
    t = rng.normal(1, 1, 1)
    with assert_unchanged(t, what="t"):
        student.to_python(t)
