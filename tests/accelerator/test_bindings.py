"""Operators that PyTorch's Python interface runs in the place of the operator itself."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch

from grader.accelerator.dispatch.bindings import FACTORIES, FUNCTIONS, METHODS, binding_of, takes_names

_M = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
_X, _I, _ONE = _M[0].clone(), torch.tensor([0, 2]), torch.ones(1)
_PICTURES = _M.view(1, 1, 4, 4).repeat(2, 1, 1, 1)

ARGUMENTS: dict[str, list[Any]] = {
    "view": [_M, [16]],
    "transpose": [_M, 0, -1],
    "unsqueeze": [_M, -1],
    "expand": [_X, [3, 4]],
    "select": [_M, 1, 2],
    "permute": [_PICTURES, [1, 0, 3, 2]],
    "squeeze.dim": [_PICTURES, 1],
    "squeeze.default": [_PICTURES],
    "as_strided": [_M, [2, 3], [1, 4], 2],
    "masked_fill": [_M, _M > 0, 2],
    "bitwise_and": [_M > 0, _M < 1],
    "sum.dim_IntList": [_M, [1], True],
    "mean.dim": [_M, [0], True],
    "mv": [_M, _X],
    "bmm": [_M[None], _M[None]],
    "index_select": [_M, 1, _I],
    "gather": [_M, 1, _I[None]],
    "index_add": [_M, 0, _I, torch.ones(2, 4)],
    "index_add_": [_M, 0, _I, torch.ones(2, 4)],
    "flip": [_M, [0, 1]],
    "roll": [_M, [1, 2], [0, 1]],
    "repeat": [_X, [2, 2]],
    "argmax": [_M, 1, True],
    "addcmul_": [_M, _M, _M],
    "addcdiv_": [_M, _M, _M],
    "addmm": [_X, _M, _M],
    "cat": [[_M, _M], 1],
    "stack": [[_M, _M], 1],
    "embedding": [_M, _I, 1, False, False],
    "rsub": [_M, 2, 3],
    "convolution": [_PICTURES, _M[None, None], _ONE, [1, 1], [0, 0], [1, 1], False, [0, 0], 1],
    "native_layer_norm": [_M, [4], _X, _X, 1e-3],
    "native_batch_norm": [_PICTURES, _ONE, _ONE, _ONE, _ONE, True, 0.2, 1e-3],
    "_softmax": [_M, 1, False],
    "_log_softmax": [_M, 1, False],
    "_softmax_backward_data": [_M, _M, 1, torch.float32],
    "_log_softmax_backward_data": [_M, _M, 1, torch.float32],
}
"""All arguments by position of operators that take others than one or two of a kind."""

OTHERS: dict[str, list[Any]] = {"Tensor": [_M, _M], "Scalar": [_M, 2], "default": [_M]}


@pytest.mark.parametrize("name", sorted(METHODS | FUNCTIONS))
def test_a_binding_returns_what_its_operator_returns(name: str) -> None:
    """Numbers, dtypes, strides and what is written to are the same, for each argument that goes by position."""
    base, _, overload = name.partition(".")
    func = getattr(getattr(torch.ops.aten, base), overload)
    kind = "Tensor" if base == "mm" else overload
    given = ARGUMENTS.get(name) or ARGUMENTS.get(base) or OTHERS[kind]
    assert len(given) == len([one for one in func._schema.arguments if not one.kwarg_only])
    seen = []
    for run in (func, binding_of(func)):
        assert run is not None
        args = [one.clone() if isinstance(one, torch.Tensor) else copy.deepcopy(one) for one in given]
        out = run(*args)
        outs = out if isinstance(out, (tuple, list)) else [out]
        seen.append(([*outs, *args[:1]], [(one.stride(), one.dtype, one._is_view()) for one in outs], type(out)))
    torch.testing.assert_close(seen[0][0], seen[1][0], rtol=0, atol=0, equal_nan=True)
    assert seen[0][1:] == seen[1][1:]


@pytest.mark.parametrize("name", sorted(FACTORIES))
def test_a_factory_takes_the_same_arguments_by_name(name: str) -> None:
    """The binding of a factory takes each argument by name, as its operator does."""
    base, _, overload = name.partition(".")
    func = getattr(getattr(torch.ops.aten, base), overload)
    options: dict[str, Any] = {"dtype": torch.int32, "layout": torch.strided, "device": "cpu", "pin_memory": False}
    names = {one.name for one in func._schema.arguments if one.kwarg_only}
    if "memory_format" in names:
        options["memory_format"] = torch.contiguous_format
    assert names == set(options)
    args = {"empty": [[2, 3]], "empty_strided": [[2, 3], [1, 2]]}.get(base, [_M, [2, 3]][: 1 + base.startswith("new_")])
    binding = binding_of(func)
    assert takes_names(func)
    assert binding is not None
    one, other = func(*args, **options), binding(*args, **options)
    assert (one.shape, one.stride(), one.dtype) == (other.shape, other.stride(), other.dtype)


def test_other_operators_have_no_binding() -> None:
    """An operator that is on no list runs itself, and only factories take arguments by name."""
    assert not takes_names(torch.ops.aten.add.Tensor)
    assert binding_of(torch.ops.aten.add.Scalar) is None
