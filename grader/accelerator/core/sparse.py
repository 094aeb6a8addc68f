"""Sparse tensors: what they are made of, and how they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet

_ROWS = (torch.sparse_csr, torch.sparse_bsr)

LAYOUTS = (torch.sparse_coo, *_ROWS, torch.sparse_csc, torch.sparse_bsc)
"""The layouts that tensors on the device can have."""


def parts_of(inner: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the dense parts of a sparse tensor, indices first, values last.

    For the layout COO they are `(indices, values)`, for CSR `(crow_indices, col_indices, values)`. A dense tensor has
    one part, the tensor itself.
    """
    if inner.layout is torch.strided:
        return (inner,)
    if inner.layout is torch.sparse_coo:
        return inner._indices(), inner._values()
    if inner.layout in _ROWS:
        return inner.crow_indices(), inner.col_indices(), inner.values()
    return inner.ccol_indices(), inner.row_indices(), inner.values()


def stored_count(inner: torch.Tensor) -> int:
    """Return the number of values that a tensor stores: 3 for a sparse 3 x 3 identity.

    A sparse tensor stores only the values that its indices name.
    """
    return parts_of(inner)[-1].numel()


def nbytes_of(inner: torch.Tensor) -> int:
    """Return the size of a tensor's elements in bytes.

    For a sparse tensor, it is the size of its indices and values: 60 for a 3 x 3 identity in COO and float32, with six
    indices of 8 bytes and three values of 4.
    """
    if inner.layout is torch.strided:
        return inner.numel() * inner.element_size()
    return sum(part.numel() * part.element_size() for part in parts_of(inner))


def rebuild_sparse(like: torch.Tensor, parts: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return a sparse CPU tensor made of its dense parts.

    Its sizes and its layout are those of the tensor `like`.
    """
    if like.layout is torch.sparse_coo:
        make: Any = torch.ops.aten._sparse_coo_tensor_unsafe
        return make(*parts, like.shape, is_coalesced=like.is_coalesced())  # type: ignore[no-any-return]
    make = torch.ops.aten._sparse_compressed_tensor_unsafe
    return make(*parts, like.shape, layout=like.layout)  # type: ignore[no-any-return]


def wrapper_options(inner: torch.Tensor) -> dict[str, Any]:
    """Return the keyword arguments of `_make_wrapper_subclass` for a sparse inner tensor.

    For the layout CSR they are `{"dispatch_layout": True}`.
    """
    if inner.layout is torch.sparse_coo:
        return {"layout": inner.layout, "_extra_dispatch_keys": DispatchKeySet(DispatchKey.SparsePrivateUse1)}
    # C++ has the layout of these in a class of its own, which a wrapper is not; it asks Python for it.
    return {"dispatch_layout": True}


def text_of_sparse(wrapper: Any, inner: torch.Tensor) -> str:
    """Return the text that `repr` shows of a sparse tensor on the device."""
    text = repr(inner)
    before, mark, after = text.rpartition("size=(")
    text = f"{before}device='{wrapper.device}', {mark}{after}"
    if wrapper.requires_grad:
        name = f"grad_fn=<{type(wrapper.grad_fn).__name__}>" if wrapper.grad_fn is not None else "requires_grad=True"
        text = f"{text[:-1]}, {name})"
    return text
