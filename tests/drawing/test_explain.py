"""`grade explain` and `with grader.explain()`: an error of PyTorch with the operands that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import run_grade
from torch.nn import functional as F

from grader import explain

pytestmark = pytest.mark.lane

a, m, b = torch.ones(3, 4), torch.ones(2, 3), torch.ones(3)
w, i = torch.ones(3, requires_grad=True), torch.arange(4)

CASES = {
    "a + b": "dim -1 has 4 and 3, which are neither equal nor 1.\nTry: b.unsqueeze(-1), which has shape (3, 1); the",
    "m @ a.t()": "they must be equal",
    "a @ torch.ones(4, dtype=torch.float64)": "Try: a.to(torch.float64).",
    "a.t().view(12)": "no strides read the storage of a.t() as (12,)",
    "a.view(5, 2)": "a (3, 4) has 12 elements, and shape (5, 2) does not fit: the sizes multiply to 10.",
    "a.reshape(-1, 5)": "12 is not divisible by 5",
    "a[3]": "dim 0 of a (3, 4) has size 3, so indices go from -3 to 2.",
    "a[0, 0, 0]": "a (3, 4) has 2 dims, and the index has 3 parts.",
    "a[i]": "Index 3 is out of range",
    "a[b]": "An index must be an integer or a bool; this one has dtype float32.",
    "a[a[0] > 0]": "A mask needs the shape of what it selects from, (3,) of a; it has (4,).",
    "torch.cat([a, m])": "cat joins along dim 0; all others must be equal. Dim 1 is not: a (3, 4) and m (2, 3).",
    "torch.stack([a, m])": "stack needs tensors of one shape",
    "torch.einsum('ij,jk->ik', a, m)": "'j' stands for sizes 4 and 2",
    "torch.bmm(a, a)": "bmm takes tensors of 3 and 3 dims",
    "a.sum(dim=2)": "dim 2 does not exist: a (3, 4) has 2 dims",
    "i.mean()": "mean needs floating point numbers: i has dtype int64.\nTry: i.float().",
    "i.add_(0.5)": "The result has dtype float32, and an in-place change of i keeps its dtype int64.",
    "-(a > 0)": "Bools have no minus",
    "a.to('meta') + a": "All operands must be on one device",
    "w.add_(1)": "w is a leaf that requires grad",
    "w.numpy()": "Try: w.detach().numpy().",
    "(w * 2).backward()": "is not one number, so it has no gradient by itself.",
    "a.sum().backward()": "does not require grad",
    "b.expand(2, 3).add_(1)": "Several indices of b.expand(2, 3) read the same element",
    "b.expand(3, 4)": "expand stretches dims of size 1 only",
    "bool(a)": "a condition needs one bool",
    "torch.nn.Linear(5, 2)(a)": "The layer takes 5 features, in the last dim; a (3, 4) has 4 there.",
    "F.cross_entropy(a, i)": "cross_entropy needs one target for each row",
    "F.cross_entropy(a, i[:3, None])": "one number of a class for each row: a (3, 4) and i[:3, None] (3, 1).\nTry: ",
    "F.cross_entropy(a, i[1:] + 1)": "Class 4 does not exist: a (3, 4) has 4 classes in dim 1, so numbers go from 0",
    "F.cross_entropy(a, b)": "Numbers of classes must have dtype int64, and b has float32",
    "F.cross_entropy(a[None], i[None, :3])": "Try: a[None].movedim(-1, 1).",
    "F.binary_cross_entropy(a[:, :1], b)": "Try: b.reshape(3, 1).",
    "F.binary_cross_entropy(a * 2, a)": "takes probabilities from 0 to 1, and a * 2 has others, such as 2.",
    "torch.nn.Embedding(3, 2)(i)": "Row 3 does not exist: the weight (3, 2) has 3 rows, so numbers go from 0 to 2.",
    "torch.nn.Embedding(3, 2)(b)": "Numbers of rows must have dtype int64 or int32, and b has float32.\nTry: b.long().",
    "torch.nn.Linear(4, 2)(a.double())": "Try: .to(torch.float32) of the input.",
    "torch.nn.Linear(12, 2)(a[None])": "The layer takes 12 features, in the last dim; the input (1, 3, 4) has 4 there.",
    "torch.nn.Conv1d(4, 2, 1)(a[None])": "The layer takes 4 channels, in dim 1; the input (1, 3, 4) has 3 there.",
    "torch.nn.BatchNorm1d(3)(a)": "The layer takes 3 features, in dim 1; a (3, 4) has 4 there.",
    "torch.nn.LayerNorm(3)(a)": "The layer takes sizes (3,) in the last dim; a has shape (3, 4).",
    "i.div_(2)": "The result has dtype float32, and an in-place change of i keeps its dtype int64.",
    "torch.ones(2, 3, 4, 5) - b": "Try: b[:, None, None], which has shape (3, 1, 1); the result has shape (2, 3, 4",
    "torch.where(b > 0, a, 0.0)": "Try: (b > 0).unsqueeze(-1), which has shape (3, 1); the result has shape (3, 4).",
}


@pytest.mark.parametrize("source", CASES)
def test_the_operands_that_do_not_fit_are_named(source: str, tmp_path: Path) -> None:
    """The note below the error has the sentence, by the student's names."""
    path = tmp_path / "own.py"
    path.write_text(f"result = {source}\n", encoding="utf-8")
    names = {"a": a, "m": m, "b": b, "w": w, "i": i, "torch": torch, "F": F}
    with pytest.raises((RuntimeError, IndexError, ValueError)) as caught, explain():
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {**names, "__name__": "own"})
    (note,) = caught.value.__notes__
    assert CASES[source] in note
    assert f"{path}, line 1" in note
    assert not any("failures.py" in str(entry.path) for entry in caught.traceback)


UNEXPLAINED = (
    "F.scaled_dot_product_attention(a[None], a[None], a[None], attn_mask=torch.ones(2, 2))",
    "torch.nn.utils.rnn.pack_padded_sequence(a[None], i[1:3])",
    "torch.linalg.solve(torch.eye(3), torch.ones(4, 1))",
    "F.ctc_loss(torch.zeros(5, 2, 4), i[None, 1:], torch.tensor([5, 6]), torch.tensor([3, 3]))",
    "torch.outer(a, b)",
    "setattr(w, 'grad', i)",
)


@pytest.mark.parametrize("source", UNEXPLAINED)
def test_a_rule_is_not_guessed(source: str) -> None:
    """That operands do not broadcast is the reason only where a function broadcasts; else PyTorch says it alone."""
    with pytest.raises((RuntimeError, ValueError, IndexError)) as caught, explain():
        eval(source, {"a": a, "b": b, "w": w, "i": i, "torch": torch, "F": F})
    assert not getattr(caught.value, "__notes__", [])


@pytest.mark.parametrize(
    "line", ["y += 1", "y[0] = 0", "torch.nn.ReLU(inplace=True)(y)", "torch._foreach_add_([y], 1)"]
)
def test_the_line_is_named_that_changed_a_saved_tensor(line: str, tmp_path: Path) -> None:
    """Backward says which tensor was changed; the note says where."""
    path = tmp_path / "own.py"
    path.write_text(f"y = torch.sigmoid(w)\nz = y.clone()\nz += 1\n{line}\ny.sum().backward()\n", encoding="utf-8")
    with pytest.raises(RuntimeError) as caught, explain():
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"w": w, "torch": torch, "__name__": "own"})
    (note,) = caught.value.__notes__
    assert (
        f"backward needs the result of Sigmoid, which was changed in place afterwards, by {path}, line 4: {line}."
        in note
    )


def test_only_the_dims_that_do_not_fit_are_marked() -> None:
    """In a product of matrices two dims have to be equal, one of each operand."""
    with pytest.raises(RuntimeError) as caught, explain():
        a @ m
    assert "  a   (3,    >4<)\n  m  (>2<,    3)\n  > < marks dims that do not fit\n" in caught.value.__notes__[0]


def test_other_errors_are_left_alone() -> None:
    """What no call of PyTorch raised has no note; nor has an error that was handled inside."""
    with pytest.raises(KeyError) as caught, explain():
        try:
            a + b
        except RuntimeError:
            names: dict[str, int] = {}
            names["x"]
    assert all("Broadcasting" in note for note in getattr(caught.value, "__notes__", []))
    with pytest.raises(ZeroDivisionError) as divided, explain():
        1 / 0  # noqa: B018
    assert not hasattr(divided.value, "__notes__")


SCRIPT = """import sys
import torch

def scale(x, weights):
    return x * weights

print(sys.argv[1:], __name__)
scale(torch.ones(4, 3), torch.ones(4))
"""

TOLD = """  x         (4,   3)
  weights        (4,)
             ~    !
  ~ stretched, ! they clash
Broadcasting aligns shapes at the right: dim -1 has 3 and 4, which are neither equal nor 1.
Try: weights.unsqueeze(-1), which has shape (4, 1); the result has shape (4, 3).
"""


def test_grade_explain_runs_a_script(tmp_path: Path) -> None:
    """The script runs as Python runs it; below its traceback, without frames of ours, stands the picture."""
    (tmp_path / "own.py").write_text(SCRIPT, encoding="utf-8")
    ran = run_grade("explain", "own.py", "--more", "x", cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (1, "['--more', 'x'] __main__\n")
    assert ran.stderr.endswith(f"own.py, line 5: x * weights\n{TOLD}")
    assert "failures.py" not in ran.stderr
    assert "runpy" not in ran.stderr
    (tmp_path / "fine.py").write_text("raise SystemExit(3)", encoding="utf-8")
    assert run_grade("explain", "fine.py", cwd=tmp_path).returncode == 3
