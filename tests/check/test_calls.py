"""Words that whole calls are judged by: what passes, what fails, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from support import Function, failure

from grader.check import (
    CheckFailed,
    allclose,
    as_number,
    as_tuples,
    assert_does_not_import,
    assert_does_not_raise,
    assert_keeps_graph,
    assert_returns_bool,
    assert_values,
    assert_values_unless_wrong_elsewhere,
    calling,
    kind,
    raises,
)
from grader.connection.connection import connection_of
from grader.connection.raised import raised_by_student
from grader.connection.student import Student
from grader.model.endings import NotUsable
from grader.wire.frames import Unsupported

X = torch.tensor([1.0, 2.0])


# -- calls ----------------------------------------------------------------------------------------------------------


def test_raises_tells_what_is_accepted(function: Function) -> None:
    """The expected error or a subclass passes; else the property tells the case, and the story the call."""
    raises(function("class Own(KeyError): pass\ndef total(x): raise Own('no')\n"), 1, error=LookupError, case="1")
    total = function("def total(x, y): return x\n")
    failed = failure(raises, total, X, 2, case="a tensor of two")
    assert failed.public == "`total` raised nothing for a tensor of two; expected a ValueError"
    assert failed.story == f"{failed.public}\nthe call  total(tensor([1., 2.]), 2)\nreturned  tensor([1., 2.])"
    failed = failure(raises, total, 1, 2, error=IndexError, case="1")
    assert failed.public == "`total` raised nothing for 1; expected an IndexError"
    # Another error of the student's stays a crash, and the message says which one is expected.
    with pytest.raises(TypeError, match="unhappy") as caught:
        raises(function("def total(x): raise TypeError('unhappy')\n"), 1, case="a number")
    raised = raised_by_student(caught.value)
    assert raised is not None and raised.expected == "expected a ValueError for a number"


def test_accepts_tells_what_is_refused(function: Function) -> None:
    """What is accepted gives its result; a refusal tells the case, and staff the call and what was raised."""
    assert assert_does_not_raise(function("def total(x, y): return x + y\n"), 1, 2, case="two numbers") == 3
    failed = failure(
        assert_does_not_raise, function("def total(x):\n    raise ValueError('too small')\n"), X, case="a tensor of two"
    )
    assert failed.public == "`total` raised a ValueError for a tensor of two; expected a result"
    assert failed.story.startswith(
        f"{failed.public}\nthe call  total(tensor([1., 2.]))\nit raised ValueError: too small\n"
    )
    assert failed.story.endswith("line 3, in total\n        raise ValueError('too small')")
    with pytest.raises(TypeError, match="unhappy"):
        assert_does_not_raise(function("def total(x): raise TypeError('unhappy')\n"), 1, case="a number")


def test_answers(function: Function) -> None:
    """The result must be a bool, and the right one; the text has neither the input nor a number."""
    assert_returns_bool(function("def total(x): return x > 0\n"), 1, expected=True, case="for 1")
    wrong = failure(
        assert_returns_bool, function("def total(x): return x > 0\n"), 1, expected=False, case="although it is odd"
    )
    assert wrong.public == wrong.story == "`total` returned True although it is odd; expected False"
    none = failure(assert_returns_bool, function("def total(x): return 1\n"), 1, expected=True, case="for 1")
    assert none.public == none.story == "`total` returned an int; expected True or False"


def test_calling_tells_staff_the_call(function: Function) -> None:
    """What fails inside keeps its public text; what passes gives the result."""
    total = function("def total(x): return x + 1\n")
    with calling(total, 1) as result:
        assert_values(result, 2)
    with pytest.raises(CheckFailed) as failed, calling(total, 1) as result:
        assert_values(result, 3)
    assert failed.value.public == "the result has the wrong value"
    assert failed.value.story == "total(1)\nthe result has the wrong value\nexpected  3\ngot       2"


def test_a_value_is_not_a_function() -> None:
    """Where the student's file has a value by that name, there is nothing to judge; the check's own is its fault."""
    words: tuple[Callable[..., object], ...] = (
        raises,
        assert_does_not_raise,
        partial(assert_returns_bool, expected=True),
    )
    for word in words:
        with pytest.raises(NotUsable, match="your file has a value where a function is expected"):
            word(3, case="x")
    with pytest.raises(Unsupported, match="a function of the student's is expected here"):
        raises(len, [], case="x")  # type: ignore[arg-type]


# -- values ---------------------------------------------------------------------------------------------------------


def test_agrees_never_raises() -> None:
    """It is true where `assert_values` passes, and false where that fails or cannot judge."""
    assert allclose(X, [1.0, 2.0]) is False  # a list of numbers is expected
    assert allclose(X, X) is True
    assert allclose(X, X + 0.1, atol=0.2) is True
    assert allclose(X, X + 0.1) is False
    assert allclose(X, X[:1]) is False
    assert allclose(None, X) is False


def test_plain_and_kind() -> None:
    """Tuples for lists at every depth, all else stays the very object; what a value is, in words."""
    assert as_tuples([1, (2, [3])]) == (1, (2, (3,)))
    assert as_tuples([X])[0] is X
    assert [kind(value) for value in (X, 1, None)] == ["a tensor", "an int", "None (is a `return` missing?)"]


def test_number() -> None:
    """The one number is found in whatever holds it; what holds no numbers fails, and so does what holds several."""
    for value in (2.0, 2, torch.tensor(2.0), torch.tensor([[2]]), np.array([2.0]), np.float32(2)):
        assert as_number(value) == 2
    none = failure(as_number, None, "the sum").public
    assert none == "expected the sum to be a number, got None (is a `return` missing?)"
    assert failure(as_number, True).public == "expected the result to be a number, got a bool"
    for value in (X, torch.empty(0)):
        assert failure(as_number, value).public == "expected the result to hold one number"


@pytest.mark.parametrize(
    ("yours", "same", "other"),
    [
        (4.0, 3.0, 5.0),  # right elsewhere: it is this rule
        (4.0, 5.0, 6.0),  # wrong in another way
        (4.0, 4.0, 4.0),  # the same for everything
        (float("nan"), float("nan"), float("nan")),
        (None, None, 4.0),
    ],
)
def test_faults_of_this_rule_fail(yours: object, same: object, other: object) -> None:
    """A value may be right, or as wrong as elsewhere; else it fails, and so does one that is always the same."""
    assert_values_unless_wrong_elsewhere(3.0, 3.0, lambda: 0.0, lambda: 0.0)
    assert_values_unless_wrong_elsewhere(4.0, 3.0, lambda: 4.0, lambda: 5.0)
    failure(assert_values_unless_wrong_elsewhere, yours, 3.0, lambda: same, lambda: other)


# -- plain Python -----------------------------------------------------------------------------------------------


@pytest.fixture
def student(function: Function) -> Callable[[str], Student]:
    """Makes a student's module of a text."""
    return lambda text: Student(connection_of(function("", files={"work.py": text})))


def test_imports(student: Callable[[str], Student]) -> None:
    """Packages are found wherever they are imported; their names elsewhere do not count."""
    assert_does_not_import(student("import math\ntorch = 'import numpy'\n"), "torch", "numpy")
    # Nothing uses them.
    assert_does_not_import(student("import torch\nimport numpy as np\ndef f(x): return x\n"), "torch", "numpy")
    text = "\ndef f(): import torch.nn as n; return n\ndef g():\n    from numpy import e; return e\n"
    found = failure(assert_does_not_import, student(text), "torch", "numpy")
    assert found.public == "your file imports torch, which the rule forbids"
    assert found.story == f"{found.public} (line 2)"
    # In plain sight it is named before anything that could hide another.
    found = failure(
        assert_does_not_import, student("import torch\n\ndef f(x): return getattr(torch, x)\n"), "torch", "numpy"
    )
    assert found.story == "your file imports torch, which the rule forbids (line 1)"


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nt = importlib.import_module('torch.nn')\n",
        "from importlib import import_module\ndef f(): return import_module('torch')\n",
        "t = __import__('torch')\n",
        "import sys\ndef f(): return sys.modules['torch']\n",
        "if __name__ != '__main__':\n    import torch\n    t = torch\n",
        "TYPE_CHECKING = 1\nif TYPE_CHECKING:\n    import torch\n    t = torch\n",
        "if __name__ == '__main__':\n    pass\nelse:\n    from torch import ones\n    t = ones\n",
    ],
)
def test_imports_by_other_ways(student: Callable[[str], Student], text: str) -> None:
    """An import that is written in another way is one."""
    failure(assert_does_not_import, student(text), "torch", "numpy")


@pytest.mark.parametrize(
    "text",
    [
        "if __name__ == '__main__':\n    import torch\n    print(torch.ones(1))\n",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n",
        "names = {'torch': 1}\ndef f(): return names['torch'], print('torch')\n",
    ],
)
def test_imports_that_never_happen(student: Callable[[str], Student], text: str) -> None:
    """What does not run when the file is imported is no use of a package, and its name is none."""
    assert_does_not_import(student(text), "torch", "numpy")
    # A file that is not Python cannot be judged.
    with pytest.raises(NotUsable, match="does not load"):
        assert_does_not_import(student("def f(:\n"), "torch")


# -- the gradient that belongs to a result --------------------------------------------------------------------------


def test_a_borrowed_gradient_does_not_count(function: Function) -> None:
    """With a degree, the gradient must be that of the result."""
    assert_keeps_graph(function("def total(x): return (x * x).sum()\n"), X, degree=2)
    borrowed = function("def total(x): return 0 * x.sum() + sum(v * v for v in x.tolist())\n")
    assert_keeps_graph(borrowed, X)
    failed = failure(assert_keeps_graph, borrowed, X, degree=2)
    assert failed.public.startswith("the gradient does not match the result: autograd did not record a part of the")
    assert failed.story == f"{failed.public}\nexpected (gradient * x).sum() to be 2 times the result (10), got 0"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("x.view(-1)[0] = 0\n    return x.sum()", "your code changes an argument that requires a gradient in place"),
        (
            "return torch.from_numpy(x.numpy()).sum()",
            "went through something that autograd does not record (a list, NumPy",
        ),
        ("return (x > 1).sum()", "integers, a comparison"),
        (
            "y = x.exp(); z = y.exp(); z += 1\n    return z.sum()",
            "a value that the gradient needs was overwritten in place",
        ),
        ("return torch.exp(x, out=torch.empty(2)).sum()", "it was written by `out=`, which autograd does not record"),
        ("return 1.0", "expected the result of `total` to be a tensor, got a float"),
        ("return", "to be a tensor, got None"),
    ],
)
def test_why_there_is_no_gradient(function: Function, body: str, told: str) -> None:
    """Where PyTorch gives no gradient, the sentence names what the code does, and blames no list for a write."""
    assert told in failure(assert_keeps_graph, function(f"def total(x):\n    {body}\n"), X).public
