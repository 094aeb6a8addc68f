"""Lines of check files that have no effect on student code are reported with what to write instead; others are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.lint.lines import findings

ROOT = Path(__file__).resolve().parents[2]

HEAD = """
import math, os, random, sys, warnings
from contextlib import redirect_stdout
from unittest import mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from grader.check import check, gradients, raises, assert_true, assert_values

"""

CERTAIN = {
    # Seeds and settings, wherever they stand.
    "torch.manual_seed(0)": "call_seeded",
    "np.random.seed(0)": "call_seeded",
    "random.seed(0)": "call_seeded",
    "torch.set_default_dtype(torch.float64)": "probe",
    "torch.use_deterministic_algorithms(True)": "probe",
    "np.seterr(all='raise')": "probe",
    "os.environ['MODE'] = 'x'": "probe",
    "os.environ.pop('MODE')": "probe",
    "os.chdir('/')": "probe",
    "sys.path.insert(0, '.')": "probe",
    "torch.matmul = None": "probe",
    "setattr(torch, 'matmul', None)": "probe",
    "torch.backends.cudnn.deterministic = True": "probe",
    "sys.stdout = open('x')": "capture",
    # Around a call.
    "with torch.no_grad():\n    y = student.f(x)": "probe",
    "with torch.enable_grad(), torch.autocast('cpu'):\n    y = student.f(x)": "probe",
    "net = student.make(3)\nwith torch.inference_mode():\n    net(x)": "probe",
    "net = student.Net(3)\nwith torch.no_grad():\n    net.forward(x)": "probe",
    "with torch.device('meta'):\n    probe.f(x)": "probe",
    "with torch.no_grad():\n    helper(student, x)": "probe",
    "with pytest.warns(UserWarning):\n    student.f(x)": "capture",
    "with warnings.catch_warnings(record=True) as caught:\n    student.f(x)": "capture",
    "with redirect_stdout(None):\n    student.f(x)": "capture",
    "with mock.patch('torch.matmul'):\n    student.f(x)": "probe",
    "with np.errstate(all='raise'):\n    reference.f(x)": "probe",
    # Handed over.
    "student.f(lambda a: a)": "probe",
    "student.f(x, key=helper)": "probe",
    "student.f([torch.sin], x)": "probe",
    "names = np.array(['a', 'b'])\nstudent.f(names, x)": "send a list of str",
    "student.f(F.relu, x)": "probe",
    "student.f(nn.Linear, x)": "probe",
    "student.f(math.cos)": "probe",
    "student.f(x, generator=torch.Generator())": "call_seeded",
    "student.f(x, generator=rng)": "call_seeded",
    "model = nn.Linear(3, 1)\nstudent.f(model, x)": "training_step",
    "student.f(torch.utils.data.DataLoader([x]))": "evaluation",
    "student.f(Toy())": "probe",
    "path = tmp_path / 'a.txt'\nstudent.f(str(path))": "probe",
    "student.f(f'{tmp_path}/a.txt')": "probe",
    # Gradients.
    "student.f(x).sum().backward()": "gradients",
    "assert student.f(x).requires_grad": "write `facts(student.f(x)).requires_grad`",
    "y = student.f(x)\nassert y.grad_fn is not None": "write `facts(y).grad_fn`",
    "loss = F.mse_loss(student.f(x), x)\nloss.backward()": "gradients",
    "torch.autograd.grad(student.f(x).sum(), x)": "gradients",
    "torch.autograd.gradcheck(student.f, (x,))": "gradients",
    "student.f(x)\ng = x.grad": "gradients",
    "x.grad = x + 1\nstudent.f(x)": "gradients",
    "net = student.Net(3)\ng = net.weight.grad": "gradients",
    # Proxies.
    "isinstance(student.Net(3), nn.Module)": "probe",
    "isinstance(x, student.Net)": "probe",
    "net = student.Net(3)\nassert net == x": "probe",
    "net = student.Net(3)\ny = net + 1": "probe",
    "net = student.Net(3)\nassert 3 in net": "probe",
    "with student.Net(3) as net:\n    pass": "probe",
    "student.Net(3)[0] = 1": "probe",
    "net = student.Net(3)\nnet.weight.copy_(x)": "load_state_dict",
    "net = student.Net(3)\nnet.linear.weight.data = x": "load_state_dict",
    "nn.init.zeros_(student.Net(3).weight)": "load_state_dict",
    "with pytest.raises(student.MyError):\n    student.f(x)": "builtin base",
    "try:\n    student.f(x)\nexcept student.MyError:\n    pass": "builtin base",
}
"""Code of a check, and what the finding must name; the finding is on the line with the first word of it."""

FINE = [
    "assert_values(student.f(x), x)",
    "y = student.f(x)\nwith torch.no_grad():\n    y += 1",
    "with torch.no_grad():\n    w = torch.randn(3).exp_()",
    "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    helper(x, 1)",
    "with pytest.raises(ValueError):\n    student.f(x)",
    "student.f(x, torch.float32, dtype=np.int64, device=torch.device('cpu'), fill=math.pi)",
    "student.f(nn.Parameter(x), F.relu(x), torch.nn.functional.one_hot(x))",
    "raises(student.f, x, error=ValueError, case='small')",
    "gradients(student.f, x)",
    "assert_true(isinstance(student.f(x), tuple), 'no tuple')",
    "y = student.f(x)\nassert y == 1 and y + 1 == 2 and 3 in y",
    "net = student.Net(3)\nassert net is not None and len(net) == 3 and net[0] == 1 and net.size == 2",
    "net = student.Net(3)\nnet.size = 4\nassert_values(net(x), net.weight @ x)",
    "y = student.f(x)\ny.requires_grad = True\nassert facts(y).is_leaf and x.requires_grad",
    "w = torch.ones(3, requires_grad=True)\n(w * w).sum().backward()\nassert_values(student.slope(w), w.grad)",
    "student.f(x)\nx.grad = x + 1\ntorch.optim.SGD([x], lr=0.1).step()\ng = x.grad",
    "a = student.Value(2.0)\nb = a.mul(a)\nb.backward()\nassert a.grad == 4.0",
    "state = student.Net(3).state_dict()\nstate['weight'].zero_()",
    "table = student.TABLE\nassert table['x'] == 1",
    "(tmp_path / 'a.txt').write_text('a')\nstudent.f((tmp_path / 'a.txt').read_text())",
    "mode = os.environ.get('MODE')",
    "sizes = sorted([3, 1], key=lambda size: -size)\nstudent.f(sizes)",
    "x = helper(x, 1)\nx = student.f(x)\nx.T.sum()",
]
"""Code of a check that does what it says."""


def of_check(body: str) -> str:
    lines = body.replace("\n", "\n    ")
    tools = "class Toy(nn.Module):\n    pass\n\n\ndef helper(a, b):\n    return a\n\n\n"
    return f'{HEAD}{tools}@check("C1")\ndef check_it(student, reference, probe, rng, tmp_path, x):\n    {lines}\n'


@pytest.mark.parametrize("body", CERTAIN)
def test_code_without_effect_is_reported(body: str) -> None:
    """Each is reported on one of its own lines, with the probe or the helper that does it."""
    text = of_check(body)
    first = text.splitlines().index(f"    {body.splitlines()[0]}") + 1
    reported = findings(text)
    assert reported
    assert all(first <= finding.line < first + len(body.splitlines()) for finding in reported)
    assert all(CERTAIN[body] in finding.instead for finding in reported), reported


@pytest.mark.parametrize("body", FINE)
def test_code_with_effect_is_not(body: str) -> None:
    """Nothing is reported that might do what it says."""
    assert findings(of_check(body)) == []


FILES = {
    "@pytest.fixture\ndef start():\n    torch.manual_seed(0)\n": (3, "seeds the check process"),
    "torch.manual_seed(0)\n": (1, "seeds the check process"),
    '@check("C1")\ndef check_it(student, capsys):\n    student.f()\n': (2, "`capsys` reaches the check process"),
    "@pytest.fixture\ndef patched(monkeypatch):\n    pass\n": (2, "`monkeypatch` reaches the check process"),
    '@check("C1")\n@torch.no_grad()\ndef check_it(student):\n    student.f()\n': (2, "holds in the check process"),
    'def call(f, x):\n    with torch.no_grad():\n        return f(x)\n\n\n@check("C1")\ndef check_it(student):\n'
    "    call(student.f, 1)\n": (2, "holds in the check process"),
    '@pytest.fixture\ndef net(student):\n    return student.Net(3)\n\n\n@check("C1")\ndef check_it(net):\n'
    "    assert net == 1\n": (8, "`net` is a proxy"),
    '@check("C1")\ndef check_it(student):\n    net = student.Net(3)\n'
    "    assert len(net) == 3\n    assert repr(net) == 'Net(3)'\n": (5, "`net` is a proxy"),
    'class CheckNet:\n    @check("C1")\n    def check_it(self, student):\n        pass\n': (3, "is inside `CheckNet`"),
    "def test_it(student):\n    pass\n": (1, "`test_it` is never run"),
    '@check("C1")\ndef small(student):\n    pass\n': (2, "`small` is never run"),
    "def check_same(a, b):\n    assert a == b\n": (1, "`check_same` has no `@check`"),
    '@check("C1")\ndef check_it(student):\n    pass\n\n\n@check("C2")\ndef check_it(student):\n    pass\n': (
        7,
        "this `check_it` replaces the one on line ",
    ),
    '@check("C1")\n@pytest.mark.xfail\ndef check_it(student):\n    pass\n': (2, "`pytest.mark.xfail` has no effect"),
    '@check("C1")\n@pytest.mark.skipif(True, reason="x")\ndef check_it(student):\n    pass\n': (2, "points undecided"),
    '@check("C1")\ndef check_it(student):\n    pytest.skip("later")\n': (3, "points undecided"),
}


@pytest.mark.parametrize("code", FILES)
def test_files_are_read_as_a_whole(code: str) -> None:
    """Fixtures, helpers, decorators and names: each is reported once, on its line."""
    line, what = FILES[code]
    (finding,) = findings(HEAD + code)
    assert (finding.line - HEAD.count("\n"), what in finding.what) == (line, True), finding


def test_the_solution_says_what_is_a_class() -> None:
    """A function with a capital makes values, a class without one makes proxies; else the name decides."""
    text = of_check("y = student.Softmax(x)\nassert y == x\nz = student.counter(3)\nassert z == 1")
    solution = "def Softmax(x):\n    return x\n\n\nclass counter:\n    pass\n"
    (finding,) = findings(text, solution)
    assert "`z` is a proxy" in finding.what
    (finding,) = findings(text)
    assert "`y` is a proxy" in finding.what


def test_a_file_that_is_not_python_has_no_findings() -> None:
    """Collecting it says what is wrong."""
    assert findings("def check_it(:") == []


def test_the_bundled_course_is_clean() -> None:
    """No check file of the bundled course has a finding."""
    files = [path for name in ("exercises", "solutions") for path in (ROOT / name).rglob("check_*.py")]
    assert len(files) > 20
    assert [f"{path}: {finding}" for path in files for finding in findings(path.read_text(encoding="utf-8"))] == []
