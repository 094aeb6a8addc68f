"""What is known of an operator before it runs, read from its schema once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

from grader.accelerator.schema.determinism import name_in_error

ATEN = torch.ops.aten

NO_KERNEL = {
    *("empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted"),
    *(
        "_local_scalar_dense",
        "_linalg_check_errors",
        "resize_",
        "resize_as_",
        "set_",
        "_efficientzerotensor",
        "_reshape_alias",
        "lift",
        "lift_fresh",
    ),
}
"""Operators that start no kernel: they give memory, or another look at it, or read a number."""

_SYNCS = {
    "_local_scalar_dense": "item",
    "equal": "equal",
    "_linalg_check_errors": "errors of linalg",
    "is_nonzero": "bool",
    # Their kernels read on the host whether they failed.
    "_linalg_eigh": "errors of linalg",
    "_linalg_eigvals": "errors of linalg",
    "linalg_eigvals": "errors of linalg",
    "linalg_eig": "errors of linalg",
    "_linalg_svd": "errors of linalg",
    "linalg_pinv": "errors of linalg",
    "linalg_matrix_exp": "norms",
    "cholesky": "errors of linalg",
    "_to_sparse": "to_sparse",
}

_ARGUMENTS_DECIDE = {"isin", "masked_fill", "index_fill", "repeat_interleave", "histc", "normal"}
"""Operators whose arguments decide whether the host waits, beside those above and those that index."""

_POINTWISE_TOO = {
    "fill",
    "masked_fill",
    "copy",
    "lerp",
    "where",
    "result_type",
    "can_cast",
    "mse_loss",
    "binary_cross_entropy_with_logits",
}
"""Operators that take a 0-dim CPU tensor, beside those that PyTorch tags as pointwise."""

INTEGERS = frozenset({torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool})

_EIGHTS = frozenset({torch.float8_e4m3fn, torch.float8_e5m2})

_HALVES = frozenset({torch.float16, torch.bfloat16})

_BYTES = frozenset({torch.uint8})

_LACKS = {
    **dict.fromkeys(("mm", "addmm", "addbmm", "_addmm_activation"), ("addmm_cuda", INTEGERS | _EIGHTS)),
    "_sparse_addmm": ("addmm_sparse_cuda", INTEGERS),
    **dict.fromkeys(("bmm", "baddbmm", "_trilinear"), ("baddbmm_cuda", INTEGERS | _EIGHTS)),
    **dict.fromkeys(("mv", "addmv"), ("addmv_impl_cuda", INTEGERS)),
    "dot": ("dot", INTEGERS),
    "vdot": ("vdot", INTEGERS),
    "convolution": ("", INTEGERS),  # which of its kernels depends on the arguments
    "max_pool2d_with_indices": ("max_pool2d_with_indices_out_cuda_frame", INTEGERS),
    "max_pool3d_with_indices": ("max_pool3d_with_indices_out_frame", INTEGERS),
    "avg_pool2d": ("avg_pool2d_out_cuda_frame", INTEGERS),
    "avg_pool3d": ("avg_pool3d_out_cuda", INTEGERS),
    "upsample_bilinear2d": ("upsample_bilinear2d_out_frame", _BYTES),
    "upsample_bicubic2d": ("upsample_bicubic2d_out_frame", _BYTES),
    "_upsample_bilinear2d_aa": ("upsample_bilinear2d_out_frame", _BYTES),
    "_upsample_bicubic2d_aa": ("upsample_bicubic2d_out_frame", _BYTES),
    "abs": ("abs_cuda", _EIGHTS),
    "angle": ("angle_cuda", _HALVES),
    "igamma": ("igamma_cuda", _HALVES),
    "igammac": ("igammac_cuda", _HALVES),
    "histc": ("histc", _HALVES | {torch.bool}),
}
"""Dtypes that a GPU has no kernel for, though the CPU has, with the kernel's name in CUDA's error."""

_CPU_ALONE = {
    *("histogram", "_histogramdd_bin_edges", "_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors"),
    *("_upsample_lanczos2d_aa", "_spdiags", "_add_relu", "_add_relu_"),
}
"""Operators that a GPU has no kernel for at all: those of `native_functions.yaml` with one for the CPU alone."""

_COMPLEX_OF_REAL = ("fft", "complex", "polar", "eig", "conj", "neg_view")
"""Parts of the names of operators that make complex numbers of real ones, or views that only these have."""

_INDEXING = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "_unsafe_index_put"}


@dataclass(frozen=True, slots=True)
class OperatorFacts:
    """The facts of an operator, read from its schema once."""

    name: str
    namespace: str
    path: str
    """Its namespace and its name with the overload, such as "aten/add.Tensor"."""
    kernels: dict[str, str]
    """By dispatch key, the text with which PyTorch records a kernel that Python code registered."""
    names: tuple[str, ...]
    """The names of its arguments."""
    keywords: frozenset[str]
    """The arguments that come by name only."""
    writes: tuple[str, ...]
    """The arguments it writes to."""
    writes_at: tuple[tuple[int, str], ...]
    """The arguments it writes to, each with its position."""
    resizes: bool
    """The arguments it writes to may have other sizes or strides afterwards."""
    generator: int
    """The position of its generator among the arguments; -1 if it has none."""
    seeded: bool
    """It draws random numbers from the default generator without having an argument for it."""
    has_device: bool
    shapes_only: bool
    """It makes a tensor like another one, and reads no numbers of that one."""
    syncs_for: str
    """The reason for which the host must wait for its result; "" if it need not."""
    may_wait: bool
    """The host waits for its result: always, or for some arguments."""
    pointwise: bool
    stays_real: bool
    """With real arguments it computes with real numbers alone."""
    is_view: bool
    """Its result is a view of the first argument."""
    works: bool
    """It starts a kernel, unless its result is a view."""
    decomposes: bool
    indexing: bool
    scatters: bool
    """It reduces the numbers that go to one element; an argument names the reduction."""
    checked: bool
    """A GPU has no kernel for it, or none for some arguments."""
    lacks: tuple[str, frozenset[torch.dtype]] | None
    """The name of CUDA's kernel, and the dtypes that it does not take; None if it takes all."""
    cpu_alone: bool
    """It has no kernel for a GPU."""
    alerts: str
    """Its name in the error of `torch.use_deterministic_algorithms`; "" if its kernel is deterministic."""
    is_linalg: bool
    """It is one of `torch.linalg`, as factorisations and solvers are."""
    grows: str
    """Why its result may be far larger than its arguments: "sizes", "product", "clone", "broadcast"; else ""."""
    flops: Callable[..., int] | None
    """PyTorch's formula for its floating-point operations."""
    flops_of_shapes: Callable[..., int] | None
    """The same formula for shapes in place of tensors."""


@functools.cache
def facts_of(func: Any) -> OperatorFacts:
    """Return what is known of an operator before it runs, read from its schema once.

    For `aten.add_.Tensor`, `path` is "aten/add_.Tensor", `names` is `("self", "other", "alpha")` and `writes` is
    `("self",)`.
    """
    schema = func._schema
    # Attention has the CPU's kernel; a GPU's has the same name without this.
    name = func._overloadpacket.__name__.replace("_for_cpu", "")
    arguments = schema.arguments
    names = tuple(argument.name for argument in arguments)
    # Python sees the types of arguments as text.
    generator = next((i for i, argument in enumerate(arguments) if str(argument.type) == "Optional[Generator]"), -1)
    tags = func.tags
    scatters = name.startswith("scatter") and "reduce" in names
    written = tuple((i, a) for i, a in enumerate(arguments) if a.alias_info is not None and a.alias_info.is_write)
    flops: Any = flop_registry.get(getattr(ATEN, name) if func.namespace == "aten" else func._overloadpacket)
    # Numbers on the device decide what comes out, or how large it is: the host has to wait for them.
    dynamic = torch.Tag.dynamic_output_shape in tags or torch.Tag.data_dependent_output in tags
    return OperatorFacts(
        name=name,
        namespace=func.namespace,
        path=(path := func.name().replace("::", "/")),
        kernels={key: f"{path}/{key}" for key in ("CUDA", "PrivateUse1", "CompositeExplicitAutograd", "CPU")},
        names=names,
        keywords=frozenset(argument.name for argument in arguments if argument.kwarg_only),
        writes=tuple(argument.name for _, argument in written),
        writes_at=tuple((i, argument.name) for i, argument in written),
        resizes=_resizes(func, name, any(argument.kwarg_only for _, argument in written)),
        generator=generator,
        seeded=generator < 0 and torch.Tag.nondeterministic_seeded in tags,
        has_device="device" in names,
        shapes_only=name.startswith("new_") or name.endswith("_like"),
        syncs_for=(syncs_for := _SYNCS.get(name, name if dynamic else "")),
        may_wait=bool(syncs_for) or name in _INDEXING or name.removesuffix("_") in _ARGUMENTS_DECIDE,
        pointwise=(pointwise := _is_pointwise(func, name)),
        stays_real=not any(part in name for part in _COMPLEX_OF_REAL),
        is_view=func.is_view,
        works=name not in NO_KERNEL and not func.is_view,
        # Outside inference mode autograd takes operators that are made of others apart before they come here.
        decomposes=_has_kernel(func, "CompositeImplicitAutograd") and not _has_kernel(func, "CPU"),
        indexing=name in _INDEXING,
        scatters=scatters,
        checked=scatters
        or name in _CPU_ALONE
        or name.startswith(("_scaled", "_int_mm"))
        or name.removesuffix("_") in _LACKS,
        lacks=_LACKS.get(name.removesuffix("_")),
        cpu_alone=name in _CPU_ALONE,
        alerts=name_in_error(name, len(schema.returns)),
        is_linalg=name.startswith("linalg_"),
        grows=_growth(name, names, writes=bool(written), pointwise=pointwise),
        flops=flops,
        flops_of_shapes=getattr(flops, "__wrapped__", None),
    )


def _growth(name: str, names: Sequence[str], *, writes: bool, pointwise: bool) -> str:
    if name in NO_KERNEL and names[:1] == ("size",):
        return "sizes"
    if writes:
        return ""
    if name in ("mm", "bmm"):
        return "product"
    if name == "clone":
        return "clone"
    return "broadcast" if pointwise and not name.startswith("_foreach_") else ""


def _resizes(func: Any, name: str, takes_out: bool) -> bool:
    # PyTorch tags what changes sizes in place. An `out=` takes the sizes of the outcome.
    tagged = torch.Tag.inplace_view in func.tags or "resize" in name
    return takes_out or tagged or func.namespace != "aten"


def _has_kernel(func: Any, key: str) -> bool:
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), key))


def _is_pointwise(func: Any, name: str) -> bool:
    plain = name.removesuffix("_")
    if torch.Tag.pointwise in func.tags or plain in _POINTWISE_TOO or plain.startswith("_foreach_"):
        return True
    # Not every in-place form has the tag itself; then the tags of the operator that it is named for count.
    packet = getattr(ATEN, plain, None) if func.namespace == "aten" else None
    return packet is not None and any(
        torch.Tag.pointwise in getattr(packet, overload).tags for overload in packet.overloads()
    )


def written_by(facts: OperatorFacts, inner: Any, named: Any) -> list[torch.Tensor]:
    """Return the tensors among an operator's arguments that it writes to.

    For `x.add_(y)` they are `[x]`, for `torch.mm(x, y, out=z)` `[z]`, each as its inner tensor.

    Args:
        facts: the facts of the operator.
        inner: its positional arguments, with inner CPU tensors in place of those of the device.
        named: its arguments by name, in the same way.
    """
    into: list[torch.Tensor] = []
    for place, name in facts.writes_at:
        value = inner[place] if place < len(inner) else named.get(name)
        if isinstance(value, (list, tuple)):
            into += value
        elif value is not None:
            into.append(value)
    return into
