Operand = tuple[str, int] | bool | int | float

INTS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")


def category(dtype: str) -> int:
    return 2 if dtype in FLOATS else 1 if dtype in INTS else 0


def promoted(one: str, other: str) -> str:
    if {one, other} == {"uint8", "int8"}:
        return "int16"
    if {one, other} == {"float16", "bfloat16"}:
        return "float32"
    return max(one, other, key=("bool", *INTS, *FLOATS).index)


def dtype_of(operand: Operand) -> str:
    if isinstance(operand, tuple):
        return operand[0]
    return {bool: "bool", int: "int64", float: "float32"}[type(operand)]


def say(operand: Operand) -> int:
    return 0 if not isinstance(operand, tuple) else 1 if operand[1] == 0 else 2


def result_dtype(a: Operand, b: Operand, op: str) -> str:
    strong, weak = (a, b) if say(a) >= say(b) else (b, a)
    result = dtype_of(strong)
    if say(a) == say(b) or category(dtype_of(weak)) > category(result):
        result = promoted(result, dtype_of(weak))
    return "float32" if op == "/" and category(result) < 2 else result


def fits_in_place(a: tuple[str, int], b: Operand, op: str) -> bool:
    return category(result_dtype(a, b, op)) <= category(a[0])
