"""What decides about loops, hidden calls and memory: the text, and time and memory that are measured from outside."""

from __future__ import annotations

import builtins
import gc
import sys
import types
from contextlib import suppress
from functools import partial
from textwrap import dedent
from typing import Any

import pytest
import torch
from support import Function, failure

from grader.check.costs import assert_costs_at_most, assert_no_loop
from grader.check.hidden_code import _is_internal_name, assert_no_hidden_code, hidden_code
from grader.check.names import READABLE_PACKAGES
from grader.check.ratios import assert_peak_memory_ratio
from grader.check.source import SubmittedSource
from grader.connection.connection import Proxy, connection_of
from grader.connection.record import Record
from grader.model.endings import CheckFailed

pytestmark = pytest.mark.lane

REFERENCE = "def total(x): return x.square().sum()"
SMALL, LARGE = (torch.arange(3000.0),), (torch.arange(30_000.0),)
SLOW = {"call_s": 20.0}


def judged(function: Function, text: str, reference: str = REFERENCE) -> Proxy:
    """A function beside a reference."""
    total = function(text, **SLOW)
    connection_of(total).reference = connection_of(function(reference, owner="the reference's", **SLOW))
    return total


# -- the text -----------------------------------------------------------------------------------------------------

OPEN = {
    "a module with private names": """
        class Layer(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self._weights = torch.nn.Parameter(torch.ones(2))
            def forward(self, x):
                return x @ self._weights
        """,
    "a custom gradient": """
        class Square(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * x
            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                return 2 * x * grad
        """,
    "dataclasses and properties": """
        import dataclasses
        @dataclasses.dataclass
        class Sizes:
            rows: int
            def __post_init__(self): self.cols = self.rows
            @property
            def area(self): return self.rows * self.cols
        """,
    "what Python knows of itself": """
        import sys, functools, itertools, math
        if __name__ == "__main__":
            exec("print(1)")
        print(sys.maxsize, sys.version_info, file=sys.stderr)
        def f(x): return getattr(x, "grad", None), type(x).__name__
        """,
    "a name that a check passes": "def f(x, mode):\n    return getattr(torch, mode)(x)",
    "a view by strides": "def f(x): return torch.as_strided(x, (2, 2), (1, 1)), x.numpy().ctypes.data",
    "imports that nothing uses": """
        import gc, os, subprocess
        import threading as t
        import matplotlib.pyplot as plt
        from importlib import import_module
        def f(x: "os.PathLike"): return x
        """,
    "pictures and settings beside the functions": """
        import os
        import matplotlib.pyplot as plt
        os.environ["OMP_NUM_THREADS"] = "1"
        plt.plot([1, 2]); plt.show()
        """,
    "functions by the type of their argument": """
        import functools
        from functools import singledispatch, wraps
        @singledispatch
        def f(x): return x
        @f.register
        def _(x: torch.Tensor | None) -> torch.Tensor: return 2 * x
        @f.register(list)
        def _of_list(x): return x
        def timed(function):
            @wraps(function)
            def inner(*args): return function(*args)
            inner.__name__ = "timed"
            return functools.update_wrapper(inner, function)
        if __name__ == "__main__":
            exec("print(1)")
        """,
    "an exception by the name that PyTorch prints": """
        def f(x):
            try: return torch.linalg.inv(x)
            except torch._C._LinAlgError: return x
        def g(x):
            from torch._C import _LinAlgError
            try: return f(x)
            except _LinAlgError: return x
        """,
    "operators that give a view": "def f(x): return torch._neg_view(x), x._neg_view()",
    "code for type checkers": """
        from typing import TYPE_CHECKING
        import typing
        if TYPE_CHECKING: import gc; gc.collect()
        if typing.TYPE_CHECKING: exec("1")
        """,
    "code for type checkers, by other names": """
        from typing import TYPE_CHECKING as CHECKING
        import typing as t
        if CHECKING: import gc; gc.collect()
        if t.TYPE_CHECKING and exec("1"): exec("1")
        if False: exec("1")
        if __name__ == "__main__" and exec("1"): exec("1")
        """,
    "names that Python has for something else": """
        from torch import compile
        input = 3
        def f(input, open=1):
            vars = input + open
            return [exec for exec in (vars,)]
        @compile
        def g(x): return x + input
        """,
    "where files are looked for": """
        import os, sys
        sys.path.append(os.path.dirname(__file__))
        sys.path.insert(0, "..")
        """,
    "tests beside the functions": """
        import unittest, pytest
        import numpy as np
        from torch.testing import assert_close
        def f(x): return x
        class Tests(unittest.TestCase):
            def test_f(self): torch.testing.assert_close(f(torch.ones(2)), torch.ones(2))
        @pytest.mark.parametrize("n", [1, 2])
        def test_f(n):
            np.testing.assert_allclose(f(torch.ones(n)), np.ones(n))
            with pytest.raises(ValueError): assert_close(f(n), n)
        """,
    "messages, and where the file lies": """
        import logging
        import logging as log
        from pathlib import Path
        logging.basicConfig(level=logging.INFO)
        logger = logging.getLogger(__name__)
        HERE = Path(__file__).parent
        def f(x):
            logger.info("shape %s", x.shape)
            logging.debug("twice")
            return x
        """,
    "a package's types": """
        import jaxtyping as jt
        from torchtyping import TensorType as TT
        def f(x: TT["rows"], y: jt.Float[torch.Tensor, "n"]) -> TT["rows", 1]: return x[:, None] * y
        """,
    "the parts of a model": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self._modules["0"] = torch.nn.Linear(2, 2)
                for part in self.modules(): torch.nn.init.zeros_(part.bias)
            def forward(self, x):
                for part in self._modules.values(): x = part(x)
                return x
        """,
    "switches of PyTorch": "torch.backends.cuda.matmul.allow_tf32 = False\ntorch.manual_seed(0)\n",
}

HIDING = {
    "hooks switched off": "def f(x):\n    with torch._C.DisableTorchFunction(): return x",
    "hooks switched off, imported": "from torch.utils._python_dispatch import _disable_current_modes as d\nd()",
    "operators below the names": "def f(x): return torch.ops.aten.sum(x)",
    "exec": "def f(x): exec('x + 1')",
    "eval under another name": "g = eval",
    "a name from strings": "def f(x): return getattr(torch, 'su' + 'm')(x)",
    "a name in a variable": "def f(x, n): return getattr(torch, n)(x)\ndef g(x): return f(x, 'su' + 'm')",
    "a name by default": "def f(x, n='sum'): return getattr(torch, n)(x)",
    "a name that replaces the one of the check": "def f(x, n):\n    n = 'su' + 'm'\n    return getattr(torch, n)(x)",
    "a name that a decorator passes": (
        "def always(g): return lambda x: g(x, 'su' + 'm')\n@always\ndef f(x, n): return getattr(torch, n)(x)"
    ),
    "a name that a method gets": (
        "class Picks:\n    def __call__(self, n): return getattr(torch, n)\ndef f(x): return Picks()('su' + 'm')(x)"
    ),
    "getattr for the inside": "def f(x): return getattr(torch, '_C')",
    "__dict__": "def f(x): return torch.__dict__['sum'](x)",
    "vars": "def f(x): return vars(torch)",
    "globals": "def f(x): return globals()",
    "__builtins__": "def f(x): return __builtins__",
    "subclasses": "def f(x): return object.__subclasses__()",
    "sys.modules": "import sys\ndef f(x): return sys.modules",
    "sys under another name": "import sys as s\ndef f(x): return s.modules",
    "sys handed on": "import sys\ndef f(x): return getattr(sys, 'maxsize')",
    "a frame": "import sys\ndef f(x): return sys._getframe()",
    "a frame of an exception": "def f(x):\n    try: 1 / 0\n    except Exception as e: return e.__traceback__.tb_frame",
    "the garbage collector": "import gc\ndef f(x): return gc.get_objects()",
    "the engine": "from grader.worker import counting\ncounting.count_costs = None",
    "a thread": "import threading\nclass T(threading.Thread): pass",
    "a process": "import os\ndef f(x): return os.fork()",
    "a file": "def f(x): return open('other.py')",
    "a module that another imported": "import torch\ndef f(x): return torch.utils.data.dataloader.os",
    "a module imported from another": "from torch.utils.data.dataloader import os as o\ndef f(x): return o",
    "what imports": "import importlib\nimportlib.invalidate_caches()",
    "everything of a module": "from os import *",
    "os handed on": "import os\ndef f(x): return [os]",
    "scripts": "def f(x): return torch.jit.script(x)",
    "setattr": "def f(x): setattr(torch, 'sum', 1)",
    "a change of PyTorch": "torch.sum = None",
    "a condition that was made true": "TYPE_CHECKING = 1\nif TYPE_CHECKING:\n    exec('1')",
    "one that was imported and made true": (
        "from typing import TYPE_CHECKING\ndef f():\n    global TYPE_CHECKING\n    TYPE_CHECKING = 1\n"
        "f()\nif TYPE_CHECKING:\n    exec('1')"
    ),
    "one of another object": "typing = torch\nif typing.TYPE_CHECKING:\n    exec('1')",
    "a name set by hand": "__name__ = '__main__'\nif __name__ == '__main__':\n    exec('1')",
    "a name set by an import": "from math import pi as __name__\nif __name__ == '__main__':\n    exec('1')",
    "a name set in a loop": "for __name__ in ['__main__']: pass\nif __name__ == '__main__':\n    exec('1')",
    "a name set by a copy": (
        "import functools\nimport work as w\ndef __main__(): pass\nfunctools.update_wrapper(w, __main__)\n"
        "if __name__ == '__main__':\n    exec('1')"
    ),
    "a copy to what is handed over": "from functools import wraps\ndef f(x): return wraps(f)(x)",
    "a copy of one name": "from functools import update_wrapper\ndef g(): pass\ndef f(x): update_wrapper(x, g)",
    "its own module as an object": "import work\nkept = work\nkept.f = torch.sum",
    "the class of an object": "def f(x):\n    x.__class__ = int\n    return x",
    "a library's private name": (
        "import dataclasses\nclass A:\n    def _create_fn(self): pass\n"
        "f = dataclasses._create_fn('f', ['x'], ['return x'])"
    ),
    "a library's private name, of a variable": (
        "import dataclasses\nlibrary = dataclasses\nclass A:\n    def _create_fn(self): pass\n"
        "f = library._create_fn('f', ['x'], ['return x'])"
    ),
    "how it is copied, by a class": "class A:\n    class __reduce__: pass",
    "how it is copied, by an import": "class A:\n    from math import pi as __reduce__",
    "how it is copied, by an async function": "class A:\n    async def __getstate__(self): pass",
    "a class by its metaclass": "from abc import ABCMeta\nA = ABCMeta('A', (), {'__re' + 'duce__': print})",
    "a class by another's type": "class A: pass\nB = type(A)('B', (), {'__re' + 'duce__': print})",
    "a builtin before it gets another meaning": "exec('1')\ndef exec(x): pass",
    "a builtin that gets its meaning back": "def exec(x): pass\ndel exec\nexec('1')",
    "a builtin under a condition": "if torch:\n    pass\nelse:\n    exec = 1\nexec('1')",
    "a builtin beside a parameter in a default": "def f(x, g=lambda exec: exec): return g(exec)('1')",
    "a builtin beside one in a comprehension": "def f(x):\n    [lambda: (exec := 1) for _ in x]\n    return exec('1')",
    "a condition that runs what stands in it": "if exec('1') and False:\n    pass",
    "attributes by names": "import functools\ndef f(x): return functools.update_wrapper(f, torch, ['su' + 'm'])",
    "attributes by names, renamed": "from functools import update_wrapper as u\ndef f(x): u(f, torch, ['su' + 'm'])",
    "modules by names": "def f(x): return torch.ao.quantization.fuse_modules(torch, ['su' + 'm'])",
    "annotations that are text": (
        "from functools import singledispatch\n@singledispatch\ndef f(x): pass\nNOTE = 'su' + 'm'\n"
        "@f.register\ndef g(x: NOTE): pass"
    ),
    "a default": "def f(x, y=exec('1')): return x",
    "an annotation that runs": "def f(x: exec('1')): return x",
    "a function that Python calls": "def __getattr__(name): return exec(name)",
    "a decorated function": "@torch.no_grad()\ndef f(x): exec('1')",
    "a package's types that are used": "from torchtyping import TensorType as TT\ndef f(x: TT): return TT(x)",
    "an annotation that runs code of its own": (
        "class A:\n    def __class_getitem__(cls, x): return exec(x)\ndef f(x: A['1']): return x"
    ),
    "tests handed on": "import unittest\nu = unittest\nu.mock.patch.object(torch, 'su' + 'm', 1)",
    "a package of tests that another imported": "import unittest\nunittest.mock.patch('torch.su' + 'm', 1)",
    "messages with attributes": "import logging\nlogging.basicConfig(style='{', format='{args[0].T}')",
    "messages with what is handed over": "import logging\ndef f(x): logging.basicConfig(**x)",
    "what lies in messages": "import logging\ndef f(x): return logging.currentframe()",
    "a file by its path": "from pathlib import Path\ndef f(x): return Path('other').read_bytes()",
    "a change of PyTorch's tensor": "torch.Tensor.sum = None",
}


@pytest.mark.parametrize("name", OPEN)
def test_ordinary_code_hides_nothing(name: str) -> None:
    """What students of PyTorch write is not rejected."""
    # A file that is not imported is not read: it belongs to another exercise.
    files = {"work.py": ("import torch\n" + dedent(OPEN[name])).encode(), "other.py": b"import gc\n"}
    assert hidden_code(SubmittedSource(files, "work")) is None


@pytest.mark.parametrize("name", HIDING)
def test_what_could_hide_is_rejected(name: str) -> None:
    """Wherever it is, in a file that the submission imports as well."""
    hiding = ("import torch\n" + HIDING[name]).encode()
    for files in ({"work.py": hiding}, {"work.py": b"import tools\n", "tools.py": hiding}):
        assert hidden_code(SubmittedSource(files, "work")) is not None


def test_only_what_checks_lead_to_is_judged() -> None:
    """A function that no check names, and that nothing leads to, is not looked at; what runs at the top always is."""
    text = "def total(x): return helper(x)\n{}\ndef draw(x): exec('1')\n"
    for more, found in (
        ("", False),
        ("helper = draw", True),
        ("def helper(x): return draw(x)", True),
        ("draw(1)", True),
    ):
        files = {"work.py": text.format(more).encode()}
        assert (hidden_code(SubmittedSource(files, "work", {"total", "torch"})) is not None) == found
    assert hidden_code(SubmittedSource({"work.py": text.format("").encode()}, "work")) is not None


def test_a_class_is_judged_where_it_is_used() -> None:
    """What the methods of a class contain counts once code that runs mentions the class, or may learn of it."""
    keeps = "    def save(self, path):\n        torch.save(self, path)\n"
    for text, found in (
        (f"class Net(torch.nn.Module):\n{keeps}", False),
        (f"class Net:\n    @property\n    def size(self):\n        return open('x')\n{keeps}", False),
        (f"class Base:\n    pass\nclass Net(Base):\n{keeps}", False),
        (f"class Base:\n{keeps}class Net(Base):\n{keeps}", False),
        (f"import abc\nclass Net(abc.ABC):\n    @abc.abstractmethod\n    def f(self): pass\n{keeps}", False),
        ("@torch.no_grad()\ndef draw(x):\n    exec('1')\n", False),
        (f"class Net(torch.nn.Module):\n{keeps}net = Net()\n", True),
        (f"class Net(torch.nn.Module):\n{keeps}def helper(x):\n    return Net().save\n", True),
        (f"class Net(torch.nn.Module):\n{keeps}def helper(x): pass\nclass Other(Net): pass\nOther()\n", True),
        (f"class Net(torch.nn.Module):\n{keeps}    kept = exec('1')\n", True),
        (f"class Net(torch.nn.Module):\n    def f(self, a=exec('1')): pass\n{keeps}", True),
        (f"class Net(torch.nn.Module):\n    @exec\n    def f(self): pass\n{keeps}", True),
        (f"def property(f): f(1)\nclass Net:\n    @property\n{keeps}", True),
        (f"class Base:\n    def __init_subclass__(cls): cls.save(1, 2)\nclass Net(Base):\n{keeps}", True),
        (f"class D:\n    def __set_name__(self, of, name): of.save(1, 2)\nclass Net:\n    d = D()\n{keeps}", True),
        (f"class Meta(type): pass\nclass Net(metaclass=Meta):\n{keeps}", True),
        (f"@print\nclass Net:\n{keeps}", True),
        (f"import enum\nclass Net(enum.Enum):\n{keeps}", True),
        (f"def kept(): pass\nclass Net(kept):\n{keeps}", True),
    ):
        files = {"work.py": f"import torch\ndef total(x): return helper(x)\n{text}".encode()}
        assert (hidden_code(SubmittedSource(files, "work", {"total", "torch"})) is not None) == found, text
    files = {"work.py": f"import torch\nclass Net(torch.nn.Module):\n{keeps}".encode()}
    assert hidden_code(SubmittedSource(files, "work", {"Net"})) is not None


def test_the_name_of_a_module_may_be_set_by_another() -> None:
    """A file that imports the exercise module while it is imported can change what its conditions see."""
    work = b"import tools\nif __name__ == '__main__':\n    exec('1')\n"
    assert hidden_code(SubmittedSource({"work.py": work, "tools.py": b"import math\n"}, "work")) is None
    for tools in (b"import work\nwork.__name__ = '__main__'\n", b"import work as w\n[w][0].__name__ = '__main__'\n"):
        assert hidden_code(SubmittedSource({"work.py": work, "tools.py": tools}, "work")) is not None


def test_what_another_file_of_the_student_defines_is_the_students_own() -> None:
    """A name with an underscore is, where that file defines it; what the file imports is not."""
    work = b"import tools\ndef total(x): return tools._sum(x)\n"
    for tools, hides in ((b"def _sum(x): return x.sum()\n", None), (b"from torch import _C as _sum\n", "._sum")):
        found = hidden_code(SubmittedSource({"work.py": work, "tools.py": tools}, "work"))
        assert (found and found.name) == hides


def test_what_hides_is_named_with_its_line(function: Function) -> None:
    """The student reads what to remove, and where; a word may be allowed."""
    total = function("def total(x):\n    with torch._C.DisableTorchFunction(): return x\n")
    for judge in (lambda: assert_no_hidden_code(total), lambda: assert_costs_at_most(total, SMALL, ops=5)):
        failed = failure(judge)
        assert failed.public == (
            "`.DisableTorchFunction` could hide what your code does, so this check cannot judge it; "
            "do not use it\n    work.py, line 3\n        with torch._C.DisableTorchFunction(): return x"
        )
        assert failed.from_text
    assert_no_hidden_code(total, allow=("_C", "DisableTorchFunction"))
    for use, why in (
        (
            "import gc\n    gc.collect()",
            "`gc` gives access to files, processes, threads or Python's internals; do not use it",
        ),
        (
            "try: import cupy\n    except ImportError: return x\n    return cupy.sum(x)",
            "`cupy` runs code that is not in your file; do not use that package",
        ),
        ("eval('x')", "do not use it"),
    ):
        told = failure(assert_no_hidden_code, function(f"def total(x):\n    {use}\n    return x\n")).public
        assert told.split("\n")[0].endswith(f" could hide what your code does, so this check cannot judge it; {why}")


_INSIDES = (
    *("sys", "os", "posix", "gc", "builtins", "inspect", "ctypes", "_ctypes", "importlib", "_imp", "types", "ast"),
    *("threading", "_thread", "io", "_io", "subprocess", "multiprocessing", "pickle", "_pickle", "signal", "socket"),
    *("code", "weakref", "marshal", "mmap", "tempfile", "shutil", "pathlib", "grader"),
)
_RUNS = {id(vars(builtins)[name]) for name in ("exec", "eval", "compile", "globals", "vars", "open", "__import__")}


@pytest.mark.filterwarnings("ignore")  # of names that are deprecated
def test_no_public_name_leads_to_the_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """From all modules that may be imported, names that the rule lets pass lead to no module that could hide code."""
    monkeypatch.setattr(torch.nn.functional, "planted", gc, raising=False)
    todo: list[tuple[str, Any]] = [
        (name, __import__(name)) for name in sorted(READABLE_PACKAGES - {"__future__", "sys"})
    ]
    seen: set[int] = set()
    found = []
    while todo:
        path, place = todo.pop()
        if id(place) in seen:
            continue
        seen.add(id(place))
        if isinstance(place, types.ModuleType) and place.__name__.split(".")[0] in _INSIDES:
            found.append(path)
            continue
        for name in filter(lambda name: not _is_internal_name(name), dir(place)):
            try:
                thing = getattr(place, name)
            except Exception:
                continue
            if id(thing) in _RUNS:
                found.append(f"{path}.{name}")
            elif isinstance(thing, (types.ModuleType, type)):
                todo.append((f"{path}.{name}", thing))
    assert [path for path in found if not path.endswith(".planted")] == []
    assert found
    assert len(seen) > 1000


# -- CPU time -----------------------------------------------------------------------------------------------------

HIDDEN = """
def total(x):
    t = sum(map(float, range(len(x) * 200)))
    return x.square().sum() + 0 * t
"""


def test_a_loop_that_no_count_shows_takes_time(function: Function) -> None:
    """Functions of C over Python's numbers run no operator and no line. Without a reference nothing is compared."""
    failed = failure(assert_no_loop, judged(function, HIDDEN), SMALL, LARGE)
    assert "takes far more CPU time for a large input than the reference" in failed.public
    assert "ms of CPU time, and the reference takes" in failed.story
    assert_no_loop(function(HIDDEN, **SLOW), SMALL, LARGE)


def test_useless_operations_hide_no_loop(function: Function) -> None:
    """Who runs as many operations where the input is small has far more than the reference."""
    padded = "def total(x):\n    for _ in range(3_100 - len(x)): x.sum()\n    return sum(v * v for v in x.unbind())\n"
    failed = failure(
        assert_no_loop, judged(function, padded), (torch.arange(300.0),), (torch.arange(3000.0),), slack=4_000
    )
    assert "runs far more operations" in failed.public


def test_a_large_input_must_be_done_as_well(function: Function) -> None:
    """Who skips the work where it is counted gives a wrong result there."""
    lazy = "def total(x):\n    return x.square().sum() if len(x) < 9999 else x[0]\n"
    failed = failure(assert_no_loop, judged(function, lazy), SMALL, LARGE)
    assert "the result of `total` for a large input is wrong" in failed.public


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def total(x): return x.sort().values.square().sum()", id="a sort"),
        pytest.param("def total(x): return torch.einsum('i,i->', x, x)", id="another operator"),
        pytest.param("import time\ndef total(x):\n    time.sleep(0.2)\n    return x.square().sum()", id="sleep"),
    ],
)
def test_other_right_answers_pass(function: Function, text: str) -> None:
    """Speed is for other checks; only a loop takes as long as a loop."""
    assert_no_loop(judged(function, text), SMALL, LARGE)


def test_a_doubt_changes_no_input(function: Function) -> None:
    """A check's later inputs are the same, however often a doubtful call is measured again."""
    renewed: list[str] = []
    for text in (REFERENCE, HIDDEN):
        total = judged(function, text)
        connection_of(total).begin_check(Record(renew=partial(renewed.append, text)))
        with suppress(CheckFailed):
            assert_no_loop(total, SMALL, LARGE)
    assert renewed.count(REFERENCE) == renewed.count(HIDDEN) > 0


# -- memory against the reference -------------------------------------------------------------------------------------


LEAN = "def total(x):\n    return x.neg_().sum().neg()\n"
FAT = "def total(x):\n    return torch.cat([x, x, x, x]).sum() / 4\n"
LARGE_ONLY = FAT.rstrip() + " if len(x) > 999_999 else x.neg_().sum().neg()\n"
HOW: dict[str, Any] = {"size": 4_000_000, "at_most": 1.5, "rtol": 1e-3, "atol": 1.0}

from_outside = pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is read from /proc")


def inputs(size: int) -> tuple[torch.Tensor]:
    return (torch.ones(size),)


def test_lean_enough(function: Function) -> None:
    """What needs about as much as the reference passes, and the peak is in the report."""
    mine = function("def total(x):\n    return (x + 1).sum() - len(x)\n")
    assert_peak_memory_ratio(
        mine, function("def total(x):\n    return (x * 1).sum()\n", owner="the reference's"), inputs, **HOW
    )
    assert connection_of(mine).record.counters == {"peak": 4 * 400_000 + 4}


def test_too_much_by_count(function: Function) -> None:
    """Four copies where none is needed are counted."""
    failed = failure(assert_peak_memory_ratio, function(FAT), function(LEAN, owner="the reference's"), inputs, **HOW)
    assert "needs more than 1.5 times the memory of the reference" in failed.public
    assert "your call needs 6,400,00" in failed.story


@from_outside
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LARGE_ONLY, id="only where it is large"),
        pytest.param("def total(x):\n    b = bytearray(x.nbytes * 4)\n    return x.sum()\n", id="not PyTorch's memory"),
    ],
)
def test_too_much_seen_from_outside(function: Function, text: str) -> None:
    """Memory that the count does not show is seen on the process."""
    failed = failure(assert_peak_memory_ratio, function(text), function(LEAN, owner="the reference's"), inputs, **HOW)
    assert "needs much more memory than the reference" in failed.public
    assert "expected its process to grow by at most" in failed.story


@from_outside
@pytest.mark.parametrize(
    ("text", "more"), [(FAT, ""), (LARGE_ONLY, "; lists and other Python objects count, too")], ids=["count", "process"]
)
def test_the_limit_of_memory_in_the_words_of_the_rule(function: Function, text: str, more: str) -> None:
    """A message says what the rule allows, where the check names it, and nothing of a reference."""
    reference = function(LEAN, owner="the reference's")
    failed = failure(assert_peak_memory_ratio, function(text), reference, inputs, **HOW, limit="the memory of one x")
    assert failed.public == f"`total` needs more than the memory of one x{more}"


DISTANCES = """
def total(a, b):
    far = torch.zeros(len(a), len(b))
    for k in range(a.shape[1]):
        far += (a[:, k, None] - b[:, k]).square()
    return far.sqrt()
"""
ROW_BY_ROW = """
def total(a, b):
    return torch.stack([(x - b).square().sum(1).sqrt() for x in a])
"""


@from_outside
def test_holes_of_the_heap_are_not_the_memory_of_a_call(function: Function) -> None:
    """Small tensors that are kept between large temporary ones count for 14 MB; the heap has grown by 109 or by 269."""
    reference = function(DISTANCES, owner="the reference's")
    assert_peak_memory_ratio(
        function(ROW_BY_ROW), reference, lambda n: (torch.ones(n, 48), torch.ones(n, 48)), size=1_200, at_most=2
    )


def test_a_lean_answer_that_is_wrong_where_it_is_large(function: Function) -> None:
    """Who skips the work where it is measured gains nothing; who is wrong everywhere loses by checks of values."""
    skips = "def total(x):\n    return x.sum() if len(x) < 10_000 else x[0]\n"
    assert (
        "for a large input is wrong"
        in failure(assert_peak_memory_ratio, function(skips), function(LEAN), inputs, **HOW).public
    )
    assert_peak_memory_ratio(function("def total(x):\n    return x[0]\n"), function(LEAN), inputs, **HOW)
