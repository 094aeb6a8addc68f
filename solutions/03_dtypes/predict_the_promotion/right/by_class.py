"""A small class for operands, and bits in place of an order."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Told:
    name: str
    say: int

    @property
    def level(self):
        return 0 if self.name == "bool" else 2 if "float" in self.name else 1

    @property
    def bits(self):
        found = re.search(r"\d+$", self.name)
        return int(found[0]) if found else 1


def told(x):
    match x:
        case (name, dims):
            return Told(name, 2 if dims else 1)
        case bool():
            return Told("bool", 0)
        case int():
            return Told("int64", 0)
    return Told("float32", 0)


def plus(a, b):
    if a.level != b.level:
        return max(a, b, key=lambda each: each.level).name
    if a.say != b.say:
        return max(a, b, key=lambda each: each.say).name
    if a.name == b.name or a.bits != b.bits:
        return max(a, b, key=lambda each: each.bits).name
    return "int16" if a.level == 1 else "float32"


def promoted(one, other):
    return plus(Told(one, 2), Told(other, 2))


def result_dtype(a, b, op):
    name = plus(told(a), told(b))
    return name if op == "+" or "float" in name else "float32"


def fits_in_place(a, b, op):
    return Told(result_dtype(a, b, op), 0).level <= told(a).level
