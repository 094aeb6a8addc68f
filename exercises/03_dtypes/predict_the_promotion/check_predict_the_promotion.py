from grader.check import assert_returns_bool, assert_runs_without, assert_values, check


def promotes(student, *cases):
    """Each pair of dtypes gives the third one."""
    for one, other, asked in cases:
        assert_values(student.promoted(one, other), asked, f"promoted({one!r}, {other!r})")


def same_dtypes(student, *cases):
    """The dtype of each operation is PyTorch's."""
    for a, b, op, asked in cases:
        assert_values(student.result_dtype(a, b, op), asked, f"result_dtype({a!r}, {b!r}, {op!r})")


@check("C1", share=1)
def check_one_category(student):
    """Pairs within a category"""
    promotes(student, ("int16", "int64", "int64"), ("float64", "float32", "float64"))
    promotes(student, ("uint8", "int8", "int16"), ("bfloat16", "float16", "float32"))


@check("C2", share=1)
def check_two_categories(student):
    """Pairs of different categories"""
    promotes(student, ("int64", "float16", "float16"), ("bool", "uint8", "uint8"))


@check("C3", share=1)
def check_zero_dims(student):
    """A tensor of 0 dims beside one with dims"""
    same_dtypes(student, (("float32", 2), ("float64", 0), "+", "float32"), (("int64", 0), ("int8", 1), "+", "int8"))
    same_dtypes(student, (("int8", 1), ("float64", 0), "+", "float64"))


@check("C4", share=1)
def check_numbers(student):
    """A tensor and a Python number"""
    same_dtypes(student, (("int8", 1), 300, "+", "int8"), (2.5, ("float16", 2), "+", "float16"))
    same_dtypes(student, (("int16", 1), 2.5, "+", "float32"))


@check("C5", share=1)
def check_division(student):
    """What a division gives"""
    same_dtypes(student, (("int64", 1), ("int64", 1), "/", "float32"), (("float16", 1), ("float16", 1), "/", "float16"))


@check("C6", share=1)
def check_in_place(student):
    """What an operation in place can store"""
    fits = student.fits_in_place
    assert_returns_bool(
        fits, ("uint8", 3), ("float16", 1), "+", expected=False, case="for a uint8 tensor += a float16 one"
    )
    assert_returns_bool(
        fits, ("float16", 1), ("float64", 1), "+", expected=True, case="for a float16 tensor += a float64 one"
    )
    assert_returns_bool(fits, ("bool", 2), ("int64", 1), "+", expected=False, case="for a bool tensor += an int64 one")


@check("C7", share=2)
def check_plain_python(student):
    """Plain Python, without torch and NumPy"""
    assert_runs_without(student.promoted, "int16", "int64")
    assert_runs_without(student.result_dtype, ("int8", 1), 300, "+")
    assert_runs_without(student.fits_in_place, ("int8", 1), 300, "+")
