"""Special methods that are asked of an object at the other end: by name, those that its class has. Standard library."""

from __future__ import annotations

_ARITHMETIC = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow")
BINARY = (*_ARITHMETIC, "lshift", "rshift", "and", "xor", "or")

SPECIAL = frozenset(
    (
        *(f"__{name}__" for name in BINARY),
        *(f"__r{name}__" for name in BINARY),
        *(f"__i{name}__" for name in BINARY if name != "divmod"),
        *("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__hash__", "__bool__"),
        *("__neg__", "__pos__", "__abs__", "__invert__", "__round__", "__trunc__", "__floor__", "__ceil__"),
        *("__int__", "__float__", "__complex__", "__index__"),
        *("__len__", "__iter__", "__next__", "__reversed__", "__contains__"),
        *("__getitem__", "__setitem__", "__delitem__"),
        *("__call__", "__enter__", "__exit__", "__await__", "__dataclass_fields__"),
    )
)
"""What Python looks up in the class. What stands for an object at the asking end has those that its class has."""

ALWAYS = frozenset(("__repr__", "__str__", "__format__", "__dir__", "__eq__", "__ne__", "__bool__"))
"""What every object answers; these are asked in any case."""
