"""Predict the promotion

A uint8 picture times a float32 mask, int8 weights plus 300: two dtypes go in, one comes out. Write down the rules by
which PyTorch chooses it, in plain Python. "You get the wider dtype" is not one of them. Begin with `promoted`.

C1  `promoted(one, other)` returns the dtype, by name, of the sum of two tensors with dims and these dtypes, in either
    order. The dtypes below are of three categories: bool, then ints, then floats. Within a category the wider one wins.
    Two that cannot hold each other's numbers give the narrowest that can: int16 for uint8 and int8, float32 for float16
    and bfloat16.
C2  In different categories the dtype of the higher one wins, even if it is narrower: int64 + float16 is float16.
C3  `result_dtype(a, b, op)` returns the dtype of `a + b` (op is "+") or `a / b` (op is "/"), in either order. One or
    both are tensors, given as dtype and number of dims, such as `("uint8", 3)`; one may be a Python number. Two tensors
    with dims, or two of 0 dims, add up to what `promoted` gives. A tensor of 0 dims counts less than one with dims: its
    dtype wins only if its category is higher, and else has no effect.
C4  A Python number counts less than any tensor, also one of 0 dims: its dtype, too, wins only if its category is
    higher. True is a bool, 5 an int64, 2.5 a float32.
C5  "/" gives what "+" gives, but float32 instead of a bool or an int.
C6  `fits_in_place(a, b, op)` returns True or False: whether `a += b` or `a /= b` works, for a tensor a with at least as
    many dims as b. It works if the category of the result is not higher than that of a.
C7  Plain Python: no tensor, no torch, no NumPy.

    >>> result_dtype(("float32", 2), ("float64", 0), "+"), fits_in_place(("int8", 1), 300, "+")
    ('float32', True)
"""

Operand = tuple[str, int] | bool | int | float

INTS = ("uint8", "int8", "int16", "int32", "int64")  # from narrow to wide
FLOATS = ("float16", "bfloat16", "float32", "float64")


def promoted(one: str, other: str) -> str:
    raise NotImplementedError  # TODO: begin here


def result_dtype(a: Operand, b: Operand, op: str) -> str:
    raise NotImplementedError  # TODO


def fits_in_place(a: tuple[str, int], b: Operand, op: str) -> bool:
    raise NotImplementedError  # TODO
