"""What may be used, by the text of the submission: each name that a function leads to, whether it runs or not."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest
import torch
from support import Function, failure

from grader.check import assert_does_not_use, assert_uses_only
from grader.check.rules import Rule

A, B = torch.tensor([1.0, 2.0, 4.0]), torch.tensor([3.0, 5.0])

RIGHT = {
    "a helper of that name": """
        def reshape(x, n):
            return x[None] * n
        def outer(a, b):
            return a[:, None] * reshape(b, 1)
        """,
    "a method of an own class of that name": """
        class Sizes:
            def __init__(self, n): self.n = n
            def reshape(self, k): return self.n * k
        def outer(a, b):
            return a[:, None] * b * (Sizes(1).reshape(1))
        """,
    "words in a docstring, a comment, a text and an annotation": '''
        def outer(a, b: "torch.reshape(a)") -> "torch.outer":
            """Do not torch.outer(a, b), and do not a.reshape(3, 1)."""
            names = "torch.outer"  # nor torch.outer
            return a[:, None] * b
        ''',
    "another package's function of that name, for sizes": """
        import numpy as np
        def outer(a, b):
            sizes = np.array([1, 1]).reshape(2, 1).tolist()
            return a[:, None] * b[None] * np.outer([1.0], [1.0]).item() * sizes[0][0]
        """,
    "a parameter that is called like the module": """
        def outer(a, b):
            def inner(torch): return torch[0]
            return a[:, None] * b * inner([1])
        """,
    "another function of the file that may use it": """
        def outer(a, b):
            return a[:, None] * b
        def other(a, b):
            return torch.outer(a, b).reshape(-1)
        """,
    "a look at the answer when the file is run, and when it is read": """
        def outer(a, b):
            return a[:, None] * b
        print(torch.equal(outer(torch.ones(2), torch.ones(3)), torch.outer(torch.ones(2), torch.ones(3))))
        if __name__ == "__main__":
            exec("print(torch.outer)")
        """,
    "a library function that uses it inside": """
        def outer(a, b):
            return torch.nn.functional.bilinear(a[:, None], a[:, None] * 0 + 1, torch.ones(1, 1, 1)) * b
        """,
    "a library's object that is named in the file": """
        norm = torch.nn.Identity()
        def outer(a, b):
            return norm(a)[:, None] * b
        """,
}

WRONG = {
    "plainly": "def outer(a, b): return torch.outer(a, b)",
    "as a method": "def outer(a, b): return a.reshape(3, 1) * b",
    "by an alias of PyTorch's": "def outer(a, b): return torch.ger(a, b)",
    "as another name": "from torch import outer as o\ndef outer(a, b): return o(a, b)",
    "kept in a variable": "def outer(a, b):\n    f = torch.outer\n    return f(a, b)",
    "kept in a table": "table = {}\ntable['o'] = torch.outer\ndef outer(a, b): return table['o'](a, b)",
    "of all that is imported": "from torch import *\nkeep = outer\ndef outer(a, b): return keep(a, b)",
    "as the whole answer, assigned": "outer = torch.outer",
    "in a helper": "def helper(a, b): return torch.outer(a, b)\ndef outer(a, b): return helper(a, b)",
    "in a default": "def outer(a, b, f=lambda a, b: torch.outer(a, b)): return f(a, b)",
    "in a decorator": "def d(f): return torch.outer\n@d\ndef outer(a, b): return a",
    "in a class": "class K:\n    def go(self, a, b): return torch.outer(a, b)\ndef outer(a, b): return K().go(a, b)",
    "where it does not run": "def outer(a, b):\n    if len(a) > 9: return torch.outer(a, b)\n    return a[:, None] * b",
    "through getattr": "def outer(a, b): return getattr(torch, 'outer')(a, b)",
    "through exec": "def outer(a, b):\n    exec('global r; r = torch.outer(a, b)')\n    return r",
    "through methodcaller": "import operator\ndef outer(a, b): return operator.methodcaller('outer', b)(a)",
    "through the type": "def outer(a, b): return type(a).outer(a, b)",
    "beside a parameter of that name": (
        "from torch import outer as o\ndef outer(a, b):\n    f = lambda o: o\n    return f(o(a, b))"
    ),
    "beside a name of an inner function": (
        "from torch import outer as o\ndef outer(a, b):\n    def g():\n        o = 1\n        return o\n"
        "    return o(a, b) * g()"
    ),
    "beside a name of a comprehension": (
        "from torch import outer as o\ndef outer(a, b): return o(a, b) * [o for o in (1,)][0]"
    ),
    "beside another import of that name": (
        "from torch import outer as o\ndef g():\n    from math import sin as o\n    return o\n"
        "def outer(a, b): return o(a, b)"
    ),
    "through a global of an inner function": (
        "def put():\n    global o\n    from torch import outer as o\ndef outer(a, b):\n    put()\n    return o(a, b)"
    ),
    "beside a parameter in a default": (
        "from torch import outer as o\ndef outer(a, b, f=lambda o: o): return f(o(a, b))"
    ),
    "beside a name that a lambda in a comprehension binds": (
        "from torch import outer as o\ndef outer(a, b):\n    [lambda: (o := 1) for _ in ()]\n    return o(a, b)"
    ),
    "beside a target that only uses the name": (
        "from torch import outer as o\ndef outer(a, b):\n    d = {}\n    return [o(a, b) for d[o] in (1,)][0]"
    ),
    "as an attribute of a class": (
        "class K: pass\ndef real(a, b): return torch.outer(a, b)\nK.go = real\ndef outer(a, b): return K.go(a, b)"
    ),
    "in a table that a function fills": (
        "table = {}\ndef fill(): table['o'] = torch.outer\nfill()\ndef outer(a, b): return table['o'](a, b)"
    ),
    "in a list that a function extends": (
        "kept = []\ndef keep(): kept.append(torch.outer)\nkeep()\ndef outer(a, b): return kept[0](a, b)"
    ),
    "as an attribute of its own module": (
        "import work\nmine = work\ndef real(a, b): return torch.outer(a, b)\n"
        "def outer(a, b): return a[:, None] * b\nmine.outer = real"
    ),
    "by its operator": "def outer(a, b): return a[:, None] @ b[None]",
}


@pytest.mark.parametrize("way", RIGHT)
def test_what_is_not_meant_is_not_refused(function: Function, way: str) -> None:
    """A right answer passes that has the name for something else."""
    outer = function(dedent(RIGHT[way]), "outer")
    torch.testing.assert_close(outer(A, B), A[:, None] * B)
    assert_does_not_use(outer, torch.outer, "reshape", "matmul")


@pytest.mark.parametrize("way", WRONG)
def test_what_is_left_out_is_found(function: Function, way: str) -> None:
    """By whatever name or way a function is reached, and also where it does not run."""
    failed = failure(assert_does_not_use, function(WRONG[way], "outer"), torch.outer, "reshape", "matmul")
    assert re.match("`outer` uses|`.*` (.* )?could hide what your code does", failed.public)


def test_the_line_is_failure(function: Function) -> None:
    """A failure names what was used, the rule and the line, also of a hidden check: all of it stands in the text."""
    failed = failure(
        assert_does_not_use, function("def outer(a, b):\n    return torch.ger(a, b)", "outer"), torch.outer
    )
    assert failed.story == (
        "`outer` uses `outer`, which the rule forbids (`torch.ger` is another name or form of it)\n"
        "    work.py, line 3\n"
        "        return torch.ger(a, b)"
    )
    assert (failed.from_text, failed.public) == (True, failed.story)
    failed = failure(assert_does_not_use, function("def outer(a, b):\n    return a.outer(b)", "outer"), torch.outer)
    assert failed.public.startswith("`outer` uses `outer`, which the rule forbids\n    work.py, line 3")
    text = "import numpy\ndef outer(a, b):\n    return numpy.outer(a, b)"
    failed = failure(assert_uses_only, function(text, "outer"), "arange", torch.where)
    said = "`outer` uses `numpy.outer`, which the rule does not allow; allowed: arange, where\n"
    assert failed.from_text and failed.public == failed.story and failed.story.startswith(said)


@pytest.mark.parametrize("spelling", ["a.T", "a.t()", "a.mT", "a.transpose(0, 1)", "a.swapaxes(0, 1)", "torch.t(a)"])
def test_spellings_of_a_transpose_are_one(function: Function, spelling: str) -> None:
    """What is allowed or forbidden by one name is so by all; reshape_as is a reshape."""
    text = f"def outer(a, b):\n    return {spelling}"
    for rule in ("t", "T", "mT", "transpose", torch.swapdims):
        assert_uses_only(function(text, "outer"), rule)
        assert "which the rule forbids" in failure(assert_does_not_use, function(text, "outer"), rule).public
    assert "which the rule does not allow" in failure(assert_uses_only, function(text, "outer"), "permute", "H").public
    failure(assert_does_not_use, function("def outer(a, b): return a.reshape_as(b)", "outer"), "reshape")


def test_without_a_name_operators_are_allowed(function: Function) -> None:
    """Not even a sum is; the message says so."""
    assert_uses_only(function("def outer(a, b): return a[:, None] * b + a.shape[0]", "outer"))
    failed = failure(assert_uses_only, function("def outer(a, b): return (a * b).sum()", "outer"))
    assert failed.public.startswith("`outer` uses `.sum`, which the rule does not allow; only operators are allowed\n")


PUZZLE = """
    def where(q, a, b):
        return (q * a) + (~q) * b

    class Shape(tuple):
        @property
        def rows(self): return self[0]

    def outer(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        shape = Shape((a.shape[0], b.size(0)))
        assert a.dim() == 1 and a.dtype == torch.float32 and isinstance(a, torch.Tensor), f"{a} has {len(a)} rows"
        i = torch.arange(shape.rows, device=a.device)[:, None]
        c = {"split": 1}
        with torch.no_grad():
            rows = sorted([row for row in a[i]], key=len)
        rows.sort(key=len), "a b".split(), c.values()
        result = torch.where(i >= 0, a[:, None], 0.0) * 2 - a[i] * 1
        result[0] = 1 * result[0]
        return where(i > -1, result, -i) * b[torch.arange(b.numel())] ** 1
    """


def test_all_that_is_named_may_be_used(function: Function) -> None:
    """With Python's own things and operators, helpers, and what describes a tensor; each function must be named."""
    outer = function(dedent(PUZZLE), "outer")
    rules: tuple[Rule, ...] = (torch.arange, "where")
    assert_uses_only(outer, *rules)
    for left_out in rules:
        failed = failure(assert_uses_only, outer, *(rule for rule in rules if rule is not left_out))
        assert "work.py, line " in failed.story


@pytest.mark.parametrize(
    "body",
    [
        "torch.einsum('i,j->ij', a, b)",
        "a.unsqueeze(1) * b",
        "a.T",
        "a[:, None].mul(b).abs_()",
        "sum([a]).item() * b",
        "__import__('numpy').outer(a, b)",
        "a[:, None].__matmul__(b[None])",
        "a[:, None] @ b[None]",
        "torch.nn.Linear(3, 3)(a)",
        "torch.vmap(lambda row: row)(a)",
        "torch.tensor(a.tolist())",
        "eval('a')",
    ],
)
def test_all_else_is_refused(function: Function, body: str) -> None:
    """Functions, methods, properties, modules, numbers that leave PyTorch, and ways that hide a name."""
    failure(assert_uses_only, function(f"def outer(a, b): return {body}", "outer"), "where")


def test_other_files_of_the_student_are_followed(function: Function) -> None:
    """A helper of another file keeps to the rule as well, and the line is named with its file."""
    files = {
        "work.py": "from tools.make import build\n\ndef outer(a, b):\n    return build(a, b)\n",
        "tools/__init__.py": "",
        "tools/make.py": "import torch\nfrom .deep import *\n\ndef build(a, b):\n    return last(a, b)\n",
        "tools/deep.py": "import torch as t\n\ndef last(a, b):\n    return t.outer(a, b)\n",
        "tools/odd.py": "def never(:\n",
    }
    failed = failure(assert_does_not_use, function("", "outer", files=files), "outer")
    assert failed.story.endswith("\n    tools/deep.py, line 4\n        return t.outer(a, b)")


def test_of_an_object_all_of_its_file_is_read(function: Function) -> None:
    """An object has no name in the text, so no function of its file may use what is left out."""
    text = "class Outer(torch.nn.Module):\n    def forward(self, a, b): return torch.einsum('i,j->ij', a, b)"
    layer = function(text, "Outer")()
    assert "line 3" in failure(assert_does_not_use, layer, "einsum").story
    assert_does_not_use(layer, "outer")
    with pytest.raises(ValueError, match="no `rehsape`; did you mean reshape"):  # the author's fault
        assert_does_not_use(layer, "rehsape")


def test_modules_and_types_do_not_count_as_uses(function: Function) -> None:
    """Of Python's library all may be used; a class in an annotation is no use of it, a function there is one."""
    text = "import math\nimport numpy as np\ndef outer(a, b: np.ndarray | None): return a[:, None] * math.prod(a.shape)"
    assert_uses_only(function(text, "outer"), "where")
    text = "def outer(a, b: (keep := torch.outer)): return keep(a, b)"
    assert failure(assert_does_not_use, function(text, "outer"), "outer").public.startswith("`outer` uses `outer`")


def test_a_package_under_another_name(function: Function) -> None:
    """Who hands a package on may call its functions as methods; one that is only used names its functions."""
    text = "import numpy as np\n{}\ndef outer(a, b): return torch.from_numpy({}.outer(a.numpy(), b.numpy()))"
    for top, used in (("n = np", "n"), ("", "[np][0]"), ("", "np")):
        failed = failure(assert_does_not_use, function(text.format(top, used), "outer"), "numpy.outer")
        assert failed.public.startswith("`outer` uses `numpy.outer`, which the rule forbids")
    assert_does_not_use(
        function("import numpy as np\ndef outer(a, b): return a[:, None] * b * np.e", "outer"), "numpy.outer"
    )


def test_an_operator_below_a_function_is_a_form_of_it(function: Function) -> None:
    """PyTorch's functions call some by a name with an underscore."""
    for text in ("torch._conj(a)", "a._conj()"):
        failure(assert_does_not_use, function(f"def outer(a, b): return {text} * b", "outer"), "conj")
        assert_does_not_use(function(f"def outer(a, b): return {text} * b", "outer"), "outer")
