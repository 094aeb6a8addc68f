"""Loops that are written in the text: in a function, in what it leads to, and in nothing else."""

from __future__ import annotations

from textwrap import dedent

import pytest
import torch
from support import Function, failure

from grader.check import assert_no_loop, assert_no_loop_in_source
from grader.connection.connection import connection_of

WRONG = {
    "for": ("    t = 0\n    for row in x:\n        t = t + row\n    return t", "a `for` statement"),
    "over dims": ("    for d in range(x.ndim):\n        x = x.flip(d)\n    return x", "a `for` statement"),
    "while": ("    k = 0\n    while k < len(x):\n        k += 1\n    return k", "a `while` statement"),
    "list": ("    return torch.stack([row * 2 for row in x])", "a comprehension"),
    "generator": ("    return torch.stack(tuple(row * 2 for row in x))", "a comprehension"),
    "dict": ("    return {i: row for i, row in enumerate(x)}", "a comprehension"),
    "map": ("    return torch.stack(list(map(torch.exp, x)))", "`map`"),
    "map, kept": ("    f = map\n    return torch.stack(list(f(torch.exp, x)))", "`map`"),
    "filter": ("    return list(filter(None, x))", "`filter`"),
    "reduce": ("    from functools import reduce\n    return reduce(torch.add, x)", "`functools.reduce`"),
    "starmap": (
        "    from itertools import starmap\n    return list(starmap(torch.mul, zip(x, x)))",
        "`itertools.starmap`",
    ),
    "accumulate": (
        "    import itertools as it\n    return [*it.accumulate(x, torch.add)]",
        "`itertools.accumulate`",
    ),
    "iter": ("    k = [3, 2]\n    return list(iter(lambda: k.pop(), 2))", "`iter` with two arguments"),
    "math.prod": ("    import math\n    return math.prod(x)", "`math.prod` iterates"),
    "prod": ("    from math import prod as p\n    return p(x * 2)", "`math.prod` iterates"),
    "vectorize": ("    import numpy as np\n    return np.vectorize(abs)(x.numpy())", "`numpy.vectorize`"),
    "along axis": ("    import numpy as np\n    return np.apply_along_axis(abs, 0, x)", "`numpy.apply_along_axis`"),
    "apply_": ("    return x.apply_(lambda v: v * v)", "`apply_`"),
    "recursion": ("    return x[0] if len(x) == 1 else x[0] + total(x[1:])", "a function that calls itself"),
    "inner recursion": (
        "    def go(v):\n        return v[0] if len(v) == 1 else v[0] + go(v[1:])\n    return go(x)",
        "a function that calls itself",
    ),
    "sum": ("    return sum(x)", "Python's `sum`"),
    "sum of a product": ("    y = x * 2\n    return sum(y, torch.zeros(()))", "Python's `sum`"),
    "sum as a value": ("    f = sum\n    return f(x)", "Python's `sum`"),
    "max": ("    return max(x)", "Python's `max`"),
    "all": ("    return all(x == x)", "Python's `all`"),
    "of lists": ("    return sum(list(x))", "Python's `sum`"),
    "in a lambda": ("    f = lambda v: [w for w in v]\n    return f(x)", "a comprehension"),
}

RIGHT = {
    "no loop": "    return x.sum()",
    "sizes": "    return x.reshape(sum(x.shape)) if sum(x.size()) == max(x.stride()) else max(x.shape[1:]) * x",
    "a list of sizes": "    sizes = [2, *x.shape]\n    return sum(sizes) * x",
    "the rest of a shape": "    n, *rest = x.shape\n    return x.reshape(n, sum(rest))",
    "two arguments": "    return x * max(len(x), 2) * min(1, 2)",
    "lists as parameters": "    def k(n: list[int], *more): return sum(n) + max(more)\n    return x * k([1], 2)",
    "a product of sizes": "    import math\n    return x.reshape(math.prod(x.shape)) * math.prod((2, 3))",
    "an iterator": "    return next(iter([x]))",
    "torch's": "    from torch import sum, max\n    return sum(x) * max(x)",
    "methods of these names": "    return x.sum() * x.max() * torch.all(x)",
    "a method that is called like its function": "    return x.total() if hasattr(x, 'total') else x",
    "vmap": "    return torch.vmap(torch.sum)(x[None])[0]",
    "a parameter called map": "    def k(map): return map(x)\n    return k(torch.sum)",
}


@pytest.mark.parametrize("form", WRONG)
def test_a_written_loop_is_found(function: Function, form: str) -> None:
    """The message says which kind it is, and shows its line, also for a hidden check."""
    body, said = WRONG[form]
    failed = failure(assert_no_loop_in_source, function(f"def total(x):\n{body}\n"))
    assert failed.public.startswith(f"`total` contains a loop: {said}")
    assert "work.py, line " in failed.story
    assert failed.from_text


@pytest.mark.parametrize("form", RIGHT)
def test_other_code_passes(function: Function, form: str) -> None:
    """Sizes, PyTorch's own functions, and names that mean something else."""
    assert_no_loop_in_source(function(f"def total(x):\n{RIGHT[form]}\n"))


def test_arguments_say_what_is_a_list(function: Function) -> None:
    """The arguments of a call say it, or an annotation in the reference, before the student's own."""
    text = "def total(x, k):\n    n = k\n    return x * max(n) * min(k) * sum(n, 0)\n"
    failure(assert_no_loop_in_source, function(text))
    assert_no_loop_in_source(function(text), torch.ones(2), [1, 2])
    assert_no_loop_in_source(function("total = lambda x, k: x * max(k)"), torch.ones(2), (1, 2))
    failed = failure(assert_no_loop_in_source, function("def total(x: list): return sum(x)"), torch.ones(2))
    assert failed.public.startswith("`total` contains a loop: Python's `sum`")
    for note, loops in (("list[int]", 0), ("torch.Tensor", 1)):
        total = function("def total(x: list, k): return x, max(k)")
        connection_of(total).reference = connection_of(function(f"def total(x: list, sizes: {note}): return x, sizes"))
        assert_no_loop_in_source(total, most=loops)
        assert loops == 0 or failure(assert_no_loop_in_source, total)
        assert_no_loop_in_source(total, [1], [2])


def test_only_what_is_reached_counts(function: Function) -> None:
    """Helpers count, in other files and as methods, too; other functions, tables and tries do not."""
    others = """
        POWERS = torch.tensor([2**k for k in range(8)])
        def other(x): return [row for row in x]
        def total(x): return x.sum() * POWERS[0]
        if __name__ == "__main__":
            for k in range(3): print(total(torch.ones(k)))
        """
    assert_no_loop_in_source(function(dedent(others)))
    for text in (
        "def total(x): return helper(x)\ndef helper(x): return [row for row in x]",
        "def total(x): return helper(x)\nhelper = lambda x: [row for row in x]",
        "def total(x): return Net().forward(x)\nclass Net:\n    def forward(self, x):\n        for row in x: pass\n",
        "import numpy as np\nf = np.vectorize(abs)\ndef total(x): return f(x)",
        "def total(x): return a(x)\ndef a(x): return b(x[1:]) if len(x) else 0\ndef b(x): return a(x)",
        "def total(x): return N().go(x)\nclass N:\n    def go(self, x): return self.go(x[1:]) if len(x) else 0\n",
    ):
        failure(assert_no_loop_in_source, function(text))
    text = "from helpers import rows\ndef total(x): return rows(x)"
    failed = failure(
        assert_no_loop_in_source, function(text, files={"helpers.py": "def rows(x): return [r for r in x]"})
    )
    assert "helpers.py, line 1" in failed.story


LISTS = {
    "by place": "def total(x, sizes: list): return widest(sizes) * x\ndef widest(v): return max(v)",
    "by name, and a shape": "def total(x): return k(v=x.shape) * k([1])\ndef k(v): return sum(v) + len(v)",
    "through two helpers": "def total(x): return a(x.shape) * x\ndef a(u): return b(u)\ndef b(v): return max(v)",
}
TENSORS = {
    "a tensor in one of two calls": "def total(x): return k(x.shape) + k(x)\ndef k(v): return sum(v)",
    "handed over": "def total(x): return k(x.shape) + torch.vmap(k)(x)\ndef k(v): return sum(v)",
    "unpacked": "def total(*x): return k(*x)\ndef k(v): return sum(v)",
    "assigned again": "def total(x): return k(x.shape, x)\ndef k(v, x):\n    v = x\n    return sum(v)",
}


@pytest.mark.parametrize("form", LISTS)
def test_a_helper_that_gets_a_list_may_sum_it(function: Function, form: str) -> None:
    """What a helper gets is known where each of its calls passes a list or a shape."""
    assert_no_loop_in_source(function(LISTS[form]))


@pytest.mark.parametrize("form", TENSORS)
def test_a_helper_that_may_get_a_tensor_may_not(function: Function, form: str) -> None:
    """One call with something else is enough, or a use that is no call."""
    assert "Python's `sum`" in failure(assert_no_loop_in_source, function(TENSORS[form])).public


def test_some_loops_may_be_written(function: Function) -> None:
    """A number of them, or those of a kind; an unknown kind is a fault of the check's."""
    text = "def total(x):\n    for row in x:\n        y = sum(row)\n    return y\n"
    assert_no_loop_in_source(function(text), most=2)
    assert_no_loop_in_source(function(text), allow=("for", "sum"))
    failed = failure(assert_no_loop_in_source, function(text), most=1)
    assert failed.public.startswith("`total` contains more loops than the rule allows: Python's `sum`")
    assert "line 4" in failed.story
    with pytest.raises(ValueError, match="unknown loop loop; the loops are all, any, apply_, comprehension"):
        assert_no_loop_in_source(function(text), allow=("loop",))


def test_the_measured_loop_names_sum(function: Function) -> None:
    """Python's `sum` over a tensor is a loop to both, and both say so; where a `for` is measured, nothing is said."""
    small, large = (torch.arange(10.0),), (torch.arange(100.0),)
    failed = failure(assert_no_loop, function("def total(x): return sum(x)"), small, large)
    assert failed.public.endswith("a larger input; Python's `sum` iterates over the rows of a tensor; use `torch.sum`")
    assert failed.story.endswith("\nPython's `sum` iterates over the rows of a tensor; use `torch.sum`")
    text = "def total(x):\n    t = 0\n    for v in x:\n        t = t + v\n    return t * sum(x.shape)"
    assert "Python goes" not in failure(assert_no_loop, function(text), small, large).story
