"""The kernel that an operator has in a build for CUDA, from the table of operators that every build of PyTorch brings.

`torchgen` generates a wrapper around each kernel (`dest/register_dispatch_key.py`). It compares the devices of the
operands, unless the table says `device_check: NoCheck`, and its errors name it: `wrapper_CUDA_mm` for a structured
kernel, `wrapper_CUDA__index_select` or `wrapper_SparseCUDA__mm` for others, which have the overload before the name.
The table is read when an error is to be written, and not before.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

_COMPRESSED = {torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr, torch.sparse_bsc}


@dataclass(frozen=True, slots=True)
class CudaKernel:
    """A kernel of a build for CUDA.

    Attributes:
        wrapper: the name of the generated function around it, as in errors.
        compares_devices: True if this function compares the devices of the operands.
    """

    wrapper: str
    compares_devices: bool


def cuda_kernel(func: Any, operands: list[torch.Tensor]) -> CudaKernel | None:
    """Return the kernel that an operator has on CUDA, or None.

    For `mm` of dense tensors it is `CudaKernel("wrapper_CUDA_mm", compares_devices=True)`. It is None for an operator
    that is made of others, or that is not in PyTorch's table of operators.

    Args:
        func: the operator, with its overload.
        operands: the tensors that it is given, whose layouts choose among its kernels.
    """
    base, overload = func._schema.name.removeprefix("aten::"), func._schema.overload_name
    entry = _table_entry(f"{base}.{overload}" if overload else base)
    if func.namespace != "aten" or not entry:
        return None
    compares = "\n  device_check: NoCheck" not in entry
    returns_out = any(
        a.kwarg_only and a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments
    )
    name = base + ("_out" if returns_out else "")
    keys = _dispatch_keys(entry)
    key = _key_of(operands)
    if key == "CUDA" and re.search(r"(?m)^  structured(_delegate)?:", entry):
        delegate = re.search(r"(?m)^  structured_delegate: (\S+)", entry)
        if "CUDA" not in (_dispatch_keys(_table_entry(delegate.group(1))) if delegate else keys):
            return None
        return CudaKernel(f"wrapper_CUDA_{name}" + (f"_{overload}" if overload else ""), compares)
    if key == "CUDA" and key not in keys:
        key = "SparseCUDA"  # it makes a sparse tensor of dense ones
    return CudaKernel(f"wrapper_{key}_{overload}_{name}", compares) if key in keys else None


def _key_of(operands: list[torch.Tensor]) -> str:
    """Return the dispatch key of CUDA's kernels for the layouts of these operands.

    An example is "SparseCUDA".
    """
    layouts = {operand.layout for operand in operands}
    if layouts & _COMPRESSED:
        return "SparseCsrCUDA"
    return "SparseCUDA" if torch.sparse_coo in layouts else "CUDA"


def _dispatch_keys(entry: str) -> set[str]:
    found = re.search(r"(?m)^  dispatch:\n((?:    .*\n?)+)", entry)
    lines = found.group(1).splitlines() if found else []
    return {key.strip() for line in lines for key in line.partition("#")[0].rpartition(":")[0].split(",")}


def _table_entry(name: str) -> str:
    """Return the lines of an operator in PyTorch's table of operators, as text.

    Those of "mm" begin with "- func: mm(Tensor self, Tensor mat2) -> Tensor". The text is "" if the operator is not in
    the table.
    """
    table = _table()
    start = table.find(f"\n- func: {name}(")
    return table[start : table.find("\n- func: ", start + 1)] if start >= 0 else ""


@functools.cache
def _table() -> str:
    spec = importlib.util.find_spec("torchgen")
    folders = spec.submodule_search_locations if spec is not None else None
    for folder in folders or ():
        path = Path(folder, "packaged", "ATen", "native", "native_functions.yaml")
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return ""
