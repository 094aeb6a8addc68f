"""What a check does with objects of a student's: each idiom is right, or refused with a clear error; none is silent.

Every idiom is a condition in plain Python. It is tried beside the right module, and beside one in which all is wrong.
"""

from __future__ import annotations

import collections.abc
import contextlib
import copy
import inspect
import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from _pytest._io.saferepr import saferepr
from support import Function

from grader.model.endings import CheckFailed, WorkerLost
from grader.remote.handle import side_of
from grader.remote.raised import raised_by_student
from grader.remote.side import Side
from grader.remote.student import Student
from grader.wire.bounds import Unsupported

RIGHT = """
import collections, dataclasses, enum
from torch import nn

@dataclasses.dataclass(order=True)
class Vector:
    x: float
    y: float = 2.0
    def __add__(self, other): return Vector(self.x + other.x, self.y + other.y)
    def __radd__(self, other): return Vector(self.x + other, self.y + other)
    def __iadd__(self, other): self.x += other; return self
    def __mul__(self, k): return Vector(self.x * k, self.y * k)
    def __matmul__(self, other): return self.x * other.x + self.y * other.y
    def __neg__(self): return Vector(-self.x, -self.y)
    def __abs__(self): return 5.0
    def __format__(self, form): return form + "!"
    def __str__(self): return "a vector"
    def __int__(self): return 3
    def __float__(self): return 3.5
    def __index__(self): return 1
    def __round__(self, digits=0): return Vector(round(self.x, digits), self.y)
    def __call__(self, k): return k * self.x

@dataclasses.dataclass(frozen=True)
class Key:
    name: str

class Stack:
    made = 0
    def __init__(self, *items): self.items = list(items); Stack.made += 1
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __reversed__(self): return reversed(self.items)
    def __contains__(self, item): return item in self.items
    def __getitem__(self, at): return self.items[at]
    def __setitem__(self, at, item): self.items[at] = item
    def __delitem__(self, at): del self.items[at]
    def push(self, item): self.items.append(item); return self
    @property
    def top(self): return self.items[-1]
    @top.setter
    def top(self, item): self.items[-1] = item
    @classmethod
    def of(cls, items): return cls(*items)
    @staticmethod
    def version(): return 2
    def copy(self): return Stack(*self.items)

class Deep(Stack): "Goes on."

class Block:
    def __init__(self): self.log = []
    def __enter__(self): self.log.append("in"); return self
    def __exit__(self, kind, error, trace): self.log.append(kind and kind.__name__); return kind is KeyError

class Error(ValueError):
    def __init__(self, text, code): super().__init__(text); self.code = code
class Worse(Error): pass
def fail(): raise Worse("too large", 7)

Point = collections.namedtuple("Point", "x y")
def length(point): return point.x + point.y
class Color(enum.Enum):
    RED = 1
    BLUE = 2
def favourite(): return Color.BLUE
def up_to(n):
    for i in range(n): yield i
def endless():
    while True: yield 1
def largest(x): return x.max(1)
def scale(x: int, k: float = 2.0) -> float:
    "Scales."
    return x * k
def sparse(): return torch.eye(2).to_sparse()
CONFIG = Stack(1, 2)
"""

WRONG = RIGHT
for _right, _wrong in {
    "self.x + other.x, self.y + other.y": "self.x, self.y",
    "self.x + other, self.y + other": "self.x, self.y",
    "self.x += other": "self.x -= other",
    "self.x * k, self.y * k": "self.x, self.y",
    "self.x * other.x + self.y * other.y": "0.0",
    "-self.x, -self.y": "self.x, self.y",
    "return 5.0": "return -5.0",
    "form + '!'": "form",
    'form + "!"': "form",
    '"a vector"': '"no vector"',
    "return 3\n": "return 4\n",
    "return 3.5": "return 4.5",
    "return 1\n": "return 0\n",
    "round(self.x, digits)": "self.x",
    "k * self.x": "k",
    "dataclass(order=True)": "dataclass(order=False)",
    "x: float\n": "x: float = 0.0\n    z: float = dataclasses.field(default_factory=lambda: next(COUNT))\n",
    "    name: str\n": "    name: str\n    z: float = dataclasses.field(default_factory=lambda: next(COUNT))\n",
    "frozen=True": "eq=False",
    "list(items); Stack.made += 1": "list(items)[1:]",
    "items.append(item); return self": "items.append(item)",
    "items[-1]\n": "items[0]\n",
    "self.items[-1] = item": "pass",
    "cls(*items)": "Stack()",
    "return 2\n": "return 3\n",
    "class Deep(Stack)": "class Deep",
    "class Worse(Error)": "class Worse(TypeError)",
    "super().__init__(text); self.code = code": "super().__init__(text)",
    'Worse("too large", 7)': 'KeyError("too large")',
    '"x y"': '"y x"',
    "BLUE = 2": "GREEN = 2",
    "return Color.BLUE": "return Color.RED",
    "yield i": "yield 0",
    "x.max(1)": "x.max(0)",
    "k: float = 2.0": "factor: float = 3.0",
    '"Scales."': '""',
    "return x * k": "return x",
    "torch.eye(2).to_sparse()": "torch.zeros(2)",
    "Stack(1, 2)": "Stack(3)",
    'self.log.append("in"); return self': "return None",
    "return kind is KeyError": "return False",
    "self.items[at] = item": "pass",
    "del self.items[at]": "pass",
    "return self.items[at]": "return None",
    "iter(self.items)": "iter([])",
    "reversed(self.items)": "iter(self.items)",
    "item in self.items": "not self.items",
    "len(self.items)": "0",
}.items():
    WRONG = WRONG.replace(_right, _wrong)
WRONG = "import itertools\nCOUNT = itertools.count()\n" + WRONG


def entered(student: Any) -> bool:
    """The block is entered, and left with what was raised inside."""
    block = student.Block()
    with block as inside:
        assert inside is block
    for error in (KeyError("swallowed"), ZeroDivisionError()):
        with contextlib.suppress(ZeroDivisionError), block:
            raise error
    log: list[Any] = block.log
    return log == ["in", None, "in", "KeyError", "in", "ZeroDivisionError"]


def raised(student: Any) -> bool:
    """The error is the student's, with its attributes, and is caught by the class above it."""
    with pytest.raises(student.Error, match="too large") as caught:
        student.fail()
    code: int = caught.value.code
    return code == 7 and caught.type is student.Worse and isinstance(caught.value, ValueError)


def caught(student: Any) -> bool:
    """By a plain `except`."""
    try:
        student.fail()
    except student.Error as error:
        return str(error) == "too large"
    return False


def with_attribute(student: Any) -> bool:
    """An attribute is set, read, and deleted."""
    v = student.Vector(1.0)
    v.x = 7.0
    v.extra = [1]
    assert (v.x, v.extra) == (7.0, [1])
    del v.extra
    return not hasattr(v, "extra") and bool(v(2) == 14.0)


def with_items(student: Any) -> bool:
    """Items are set and deleted."""
    s = student.Stack(1, 2, 3)
    s[0] = 9
    del s[1]
    return list(s) == [9, 3]


def in_place(student: Any) -> bool:
    """`+=` is the object's own."""
    v = same = student.Vector(1.0)
    v += 3.0
    return v is same and v.x == 4.0


def with_property(student: Any) -> bool:
    """A property is read and set."""
    s = student.Stack(1, 2)
    s.top = 5
    top: int = s.top
    return top == 5 and list(s) == [1, 5]


def of_class(student: Any) -> bool:
    """An attribute of the class is read and set."""
    before = student.Stack.made
    student.Stack(1)
    assert student.Stack.made == before + 1
    student.Stack.made = 0
    made: int = student.Stack(1).made
    return made == 1


def copied(student: Any) -> bool:
    """A deep copy is an object of its own."""
    one = student.Stack(1, 2)
    other = copy.deepcopy(one)
    other.push(3)
    return list(one) == [1, 2] and list(other) == [1, 2, 3]


def through_attribute(student: Any) -> bool:
    """What an attribute gives is the object's own list, also when it is held for long."""
    s = student.Stack(1)
    s.items.append(5)
    held = s.items
    s.push(6)
    held[0] = 7
    return list(s) == [7, 5, 6] == held and s.items is held


def nested(student: Any) -> bool:
    """A dict in a list is the object's own, too."""
    s = student.Stack({"lr": 1.0}, (1, [2]))
    s.items[0]["lr"] = 0.5
    s.items[1][1].append(3)
    items: list[Any] = s.items
    return items == [{"lr": 0.5}, (1, [2, 3])]


IDIOMS: dict[str, Any] = {
    "a list of an attribute": through_attribute,
    "a dict in a list": nested,
    "==": lambda s: s.Vector(1.0) == s.Vector(1.0) and not s.Vector(1.0) == s.Vector(2.0),  # noqa: SIM201
    "!=": lambda s: s.Vector(1.0) != s.Vector(2.0) and not s.Vector(1.0) != s.Vector(1.0),  # noqa: SIM202
    "order": lambda s: s.Vector(1.0, 3.0) < s.Vector(2.0, 3.0) and sorted([s.Vector(2.0), s.Vector(1.0)])[0].x == 1.0,
    "hash": lambda s: (lambda one, other: hash(one) == hash(other))(s.Key("a"), s.Key("a")),  # both live: no id twice
    "a set": lambda s: len({s.Key("a"), s.Key("a"), s.Key("b")}) == 2,
    "a key": lambda s: {s.Key("a"): 1}[s.Key("a")] == 1,
    "in a list": lambda s: s.Key("a") in [s.Key("b"), s.Key("a")],
    "bool": lambda s: bool(s.Stack(1)) and not s.Stack(),
    "not": lambda s: not s.Stack() and bool(s.Stack(1)),
    "len": lambda s: len(s.Stack(1, 2)) == 2,
    "iter": lambda s: [item for item in s.Stack(1, 2)] == [1, 2],  # noqa: C416
    "list": lambda s: list(s.Stack(1, 2)) == [1, 2],
    "unpack": lambda s: (lambda a, b: (a, b))(*s.Stack(1, 2)) == (1, 2),
    "zip": lambda s: list(zip(s.Stack(1, 2), s.Stack(3, 4), strict=True)) == [(1, 3), (2, 4)],
    "reversed": lambda s: list(reversed(s.Stack(1, 2))) == [2, 1],
    "in": lambda s: 2 in s.Stack(1, 2) and 3 not in s.Stack(1, 2),
    "[]": lambda s: s.Stack(1, 2)[1] == 2,
    "[:]": lambda s: s.Stack(1, 2, 3)[1:] == [2, 3],
    "[]= and del": with_items,
    "+": lambda s: (s.Vector(1.0) + s.Vector(2.0)).x == 3.0,
    "reflected +": lambda s: (1.0 + s.Vector(1.0)).x == 2.0,
    "+=": in_place,
    "*": lambda s: (s.Vector(1.0) * 3).y == 6.0,
    "@": lambda s: s.Vector(1.0) @ s.Vector(1.0) == 5.0,
    "-": lambda s: (-s.Vector(1.0)).x == -1.0,
    "abs": lambda s: abs(s.Vector(1.0)) == 5.0,
    "round": lambda s: round(s.Vector(1.26), 1).x == 1.3,
    "int": lambda s: int(s.Vector(1.0)) == 3,
    "float": lambda s: float(s.Vector(1.0)) == 3.5,
    "index": lambda s: [1, 2][s.Vector(1.0)] == 2,
    "call": lambda s: s.Vector(4.0)(2) == 8.0,
    "callable": lambda s: callable(s.Vector(1.0)) and not callable(s.Stack()) and s.Vector(2.0)(1) == 2.0,
    "repr": lambda s: repr(s.Key("a")) == "Key(name='a')",
    "str": lambda s: str(s.Vector(1.0)) == "a vector",
    "format": lambda s: f"{s.Vector(1.0):.2f}" == ".2f!",
    "with": entered,
    "get attribute": lambda s: s.Vector(1.0).y == 2.0 and s.Stack(1, 2).items == [1, 2],
    "set and delete attribute": with_attribute,
    "hasattr and getattr": lambda s: not hasattr(s.Stack(1), "none") and getattr(s.Stack(1, 2, 3), "top", 0) == 3,
    "method": lambda s: s.Stack(1).push(2).push(3).items == [1, 2, 3],
    "method returns self": lambda s: (lambda stack: stack.push(2) is stack)(s.Stack(1)),
    "property": with_property,
    "class method": lambda s: list(s.Stack.of([1, 2])) == [1, 2],
    "static method": lambda s: s.Stack.version() == 2,
    "class attribute": of_class,
    "isinstance": lambda s: isinstance(s.Deep(1), s.Stack)
    and not isinstance(s.Stack(), s.Deep)
    and not isinstance(3, s.Deep),
    "issubclass": lambda s: issubclass(s.Deep, s.Stack) and not issubclass(s.Stack, s.Deep),
    "isinstance of an abc": lambda s: isinstance(s.Stack(1), collections.abc.Sized)
    and not isinstance(s.Vector(1.0), collections.abc.Iterable)
    and len(s.Stack(1)) == 1,
    "type's name": lambda s: type(s.Deep(1)).__name__ == "Deep" and issubclass(s.Deep, s.Stack),
    "named tuple": lambda s: s.Point(1, 2).x == 1 and s.Point(1, 2) == (1, 2) and s.Point(1, 2)._fields == ("x", "y"),
    "named tuple back": lambda s: s.length(s.Point(1, 2)) == 3 and s.Point(1, 2) == s.Point(x=1, y=2),
    "PyTorch's named tuple": lambda s: s.largest(torch.tensor([[1.0, 2.0, 0.0]])).values.tolist() == [2.0],
    "enum": lambda s: s.favourite() == s.Color.BLUE and s.favourite() is s.Color.BLUE,
    "enum's items": lambda s: [color.name for color in s.Color] == ["RED", "BLUE"] and s.Color(2) == s.Color["BLUE"],
    "generator": lambda s: list(s.up_to(3)) == [0, 1, 2],
    "next": lambda s: (lambda g: (next(g), next(g), next(g, None)))(s.up_to(2)) == (0, 1, None),
    "islice": lambda s: list(itertools.islice(s.endless(), 3)) == [1, 1, 1] and list(s.up_to(2)) == [0, 1],
    "raises": raised,
    "except": caught,
    "an error made": lambda s: s.Error("text", 5).code == 5 and isinstance(s.Error("text", 5), s.Error),
    "copy": copied,
    "signature": lambda s: list(inspect.signature(s.scale).parameters) == ["x", "k"]
    and inspect.signature(s.scale).parameters["k"].default == 2.0,
    "docstring": lambda s: s.scale.__doc__ == "Scales." and s.scale.__name__ == "scale",
    "value of the module": lambda s: list(s.CONFIG) == [1, 2],
    "sparse tensor": lambda s: isinstance(s.sparse(), torch.Tensor) and s.sparse().is_sparse,
}  # fmt: skip


@pytest.fixture
def sides(function: Function) -> Iterator[tuple[Side, Side]]:
    """The right module as the student's, and as the reference's."""
    mine, theirs = side_of(function(RIGHT)), side_of(function(RIGHT, owner="the reference's"))
    theirs.originals = mine
    for side in (mine, theirs):
        side.begin_check(1, recording=False)
    yield mine, theirs


def failing(student: Any) -> list[str]:
    """The idioms that do not hold, be it by an error of the student's or by one that Python raises for the check."""
    found = []
    for name, holds in IDIOMS.items():
        try:
            if not holds(student):
                found.append(name)
        except (Exception, pytest.fail.Exception):
            found.append(name)
    return found


def test_every_idiom_holds_for_the_right_module(sides: tuple[Side, Side]) -> None:
    """What a check does with an object is done with the object, on either side."""
    assert len(IDIOMS) >= 62
    for side in sides:
        assert failing(Student(side)) == []


def test_every_idiom_sees_the_wrong_module(function: Function) -> None:
    """None of them holds by itself."""
    wrong = side_of(function(WRONG))
    wrong.begin_check(1, recording=False)
    assert sorted(set(IDIOMS) - set(failing(Student(wrong)))) == []


def test_what_is_of_two_processes_is_refused(sides: tuple[Side, Side]) -> None:
    """No object, function or class of one side is taken for the other's, wherever it stands among the arguments."""
    student, reference = map(Student, sides)
    mine, theirs = student.Stack(1), reference.Stack(9)
    tries: list[Any] = [
        lambda: mine == theirs,
        lambda: student.Stack(theirs),
        lambda: student.Stack([{"a": theirs}]),
        lambda: reference.Stack(mine),
        lambda: mine.push(reference.scale),
        lambda: mine.push(item=reference.Stack),
        lambda: mine[theirs],
        lambda: theirs in mine,
        lambda: mine.__setattr__("items", theirs),
        lambda: isinstance(theirs, student.Stack),
        lambda: issubclass(reference.Deep, student.Stack),
    ]
    for each in tries:
        with pytest.raises(Unsupported, match="lives in another worker"):
            each()
    assert list(mine) == [1]


def test_an_object_of_an_earlier_check_is_gone(sides: tuple[Side, Side]) -> None:
    """Its number is another object's by then."""
    student: Any = Student(sides[0])
    old = student.Stack(1)
    sides[0].begin_check(2, recording=False)
    student.Stack(2)
    for use in (lambda: list(old), lambda: old.items, lambda: old.push(1)):
        with pytest.raises(RuntimeError, match="is gone"):
            use()
    with pytest.raises(Unsupported, match="in one that is gone"):
        student.Stack(old)


def test_what_an_object_cannot_do_is_refused_in_words(sides: tuple[Side, Side]) -> None:
    """By Python, by the student's class, or by us; and each time it is clear by whom."""
    student: Any = Student(sides[0])
    with pytest.raises(TypeError, match="'Vector' has no len"):
        len(student.Vector(1.0))
    with pytest.raises(TypeError, match="unhashable"):
        hash(student.Vector(1.0))
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(student.Stack(1))
    with pytest.raises(Unsupported, match="probe"):
        student.Stack(1).push(lambda: 1)
    with pytest.raises(AttributeError) as missing:
        student.Stack(1).none  # noqa: B018
    assert raised_by_student(missing.value) is not None
    with pytest.raises(AttributeError):
        student.NONE  # noqa: B018
    student.CONFIG = 3  # as of any module
    assert student.CONFIG == 3
    with pytest.raises(CheckFailed, match="more than 10,000 items"):
        list(student.endless())


def test_a_report_asks_nobody(sides: tuple[Side, Side]) -> None:
    """What pytest shows of a failure comes from what is known here: the worker may be gone, or say it for ever."""
    stack = Student(sides[0]).Stack(1)
    assert saferepr([stack]) == "[<an object of type Stack>]"
    sides[0].sitting.close()
    assert saferepr(stack) == "<an object of type Stack>"


def test_what_a_class_says_of_itself_is_bounded(sides: tuple[Side, Side], function: Function) -> None:
    """No object is a number by its name, and none makes the check's process large or slow."""
    lies = side_of(
        function(
            "class Liar:\n    def __len__(self): return 10 ** 15\n    def __getitem__(self, at): return at\n"
            "Liar.__module__, Liar.__qualname__ = 'builtins', 'float'\n"
            "def liar(): return Liar()\n"
            "def many(n): return [type(f'T{i}', (), {})() for i in range(n)]\n"
        )
    )
    lies.begin_check(1, recording=False)
    student: Any = Student(lies)
    assert not isinstance(student.liar(), float)
    with pytest.raises(CheckFailed, match="more than 10,000,000 items"):
        list(student.liar())
    with pytest.raises(CheckFailed, match="more than 10,000 items"):
        sum(item for item in student.liar())
    assert len(student.many(500)) == 500
    with pytest.raises(WorkerLost):
        student.many(2000)
