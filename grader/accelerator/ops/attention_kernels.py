"""Which of CUDA's attention kernels take the given arguments, and PyTorch's messages why others do not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

_ORDER = {"efficient": "Memory efficient", "flash": "Flash attention", "cudnn": "cuDNN attention"}
_DISABLED = {"efficient": "Memory Efficient attention", "flash": "Flash attention", "cudnn": "cuDNN attention"}
_IN_CPP = {
    torch.float32: "float",
    torch.float64: "double",
    torch.float16: "c10::Half",
    torch.bfloat16: "c10::BFloat16",
}
_SUPPORTED = {torch.float16: "Half", torch.float32: "Float", torch.bfloat16: "BFloat16"}
_ADVICE = " instead. To broadcast dense inputs, try using unsqueeze and expand_to before passing them into the kernel."


@dataclass(frozen=True)
class AttentionArguments:
    """The arguments of attention, and the capability of the GPU."""

    query: Any
    key: Any
    value: Any
    mask: Any
    dropout: float
    causal: bool
    grouped: bool
    capability: tuple[int, int]

    @property
    def tensors(self) -> tuple[Any, Any, Any]:
        """The tensors query, key and value."""
        return self.query, self.key, self.value


def _allowed_kernels() -> dict[str, bool]:
    return {
        "flash": torch._C._get_flash_sdp_enabled(),
        "efficient": torch._C._get_mem_efficient_sdp_enabled(),
        "cudnn": torch._C._get_cudnn_sdp_enabled(),
    }


def can_use(kernel: str, arguments: AttentionArguments, *, warn: bool) -> bool:
    """Return whether the program allows a fused kernel and the kernel takes these arguments.

    Args:
        kernel: "flash", "efficient" or "cudnn".
        arguments: the arguments of attention.
        warn: True if a warning says why the result is False.
    """
    why = next(_obstacles(kernel, arguments), "") if _allowed_kernels()[kernel] else _disabled_warning(kernel)
    if why and warn:
        warnings.warn(why, UserWarning, stacklevel=2)
    return not why


def _disabled_warning(kernel: str) -> str:
    return f"{_DISABLED[kernel]} has been runtime disabled."


def is_fused(arguments: AttentionArguments) -> bool:
    """Return whether one of the fused kernels that the program allows takes these arguments.

    Raises:
        RuntimeError: no fused kernel takes them, and the program does not allow the kernel of plain operators, "math".
    """
    allowed = _allowed_kernels()
    if any(allowed[kernel] and not next(_obstacles(kernel, arguments), "") for kernel in allowed):
        return True
    if torch._C._get_math_sdp_enabled():
        return False
    if not any(allowed.values()):
        raise RuntimeError("No viable backend for scaled_dot_product_attention was found.")
    for kernel, name in _ORDER.items():
        warnings.warn(f"{name} kernel not used because:", UserWarning, stacklevel=2)
        why = next(_obstacles(kernel, arguments), "") if allowed[kernel] else _disabled_warning(kernel)
        warnings.warn(why, UserWarning, stacklevel=2)
    raise RuntimeError("No available kernel. Aborting execution.")


def _obstacles(kernel: str, arguments: AttentionArguments) -> Iterator[str]:
    """Yield the reasons why a kernel does not take these arguments, in the order of the checks in C++."""
    dims = [one.dim() for one in arguments.tensors]
    if dims != [4, 4, 4]:
        yield (
            f"All fused kernels requires query, key and value to be 4 dimensional, but got Query dim: {dims[0]}, "
            f"Key dim: {dims[1]}, Value dim: {dims[2]} instead."
        )
    yield from {"flash": _obstacles_of_flash, "efficient": _obstacles_of_efficient, "cudnn": _obstacles_of_cudnn}[
        kernel
    ](arguments)
    yield from _obstacles_of_layout(arguments, kernel)
    dtypes = [torch.float16, *([torch.float32] if kernel == "efficient" else [])]
    if arguments.capability >= (8, 0):
        dtypes.append(torch.bfloat16)
    dtypes_given = [one.dtype for one in arguments.tensors]
    if len(set(dtypes_given)) > 1 or dtypes_given[0] not in dtypes:
        names = [_IN_CPP.get(dtype, str(dtype).removeprefix("torch.")) for dtype in dtypes_given]
        allowed = ", ".join(name for dtype, name in _SUPPORTED.items() if dtype in dtypes)
        yield (
            f"Expected query, key and value to all be of dtype: {{{allowed}}}. Got "
            f"Query dtype: {names[0]}, Key dtype: {names[1]}, and Value dtype: {names[2]} instead."
        )


def _sizes(arguments: AttentionArguments, dim: int) -> list[int]:
    return [one.shape[dim] for one in arguments.tensors]


def _obstacles_of_old_gpu(arguments: AttentionArguments, name: str) -> Iterator[str]:
    if arguments.capability < (8, 0):
        major, minor = arguments.capability
        yield (
            f"{name} only supports gpu architectures in the range [sm80, sm121]. Attempting to run on a sm "
            f"{major}.{minor} gpu."
        )


def _obstacles_of_flash(arguments: AttentionArguments) -> Iterator[str]:
    """Yield the reasons, specific to flash attention, why its kernel does not take these arguments."""
    if arguments.mask is not None:
        yield "Flash Attention does not support non-null attn_mask."
    q, k, v = _sizes(arguments, -1)
    if not q == k == v <= 256:
        yield (
            "Flash attention requires q,k,v to have the same last dimension and to be less than or equal to 256. Got "
            f"Query.size(-1): {q}, Key.size(-1): {k}, Value.size(-1): {v} instead."
        )
    yield from _obstacles_of_old_gpu(arguments, "Flash attention")
    lengths = _sizes(arguments, -2)
    if arguments.causal and lengths[0] != lengths[1]:
        yield (
            "Flash attention does not support the is_causal flag when seqlen_q != seqlen_k. Got seqlen_q: "
            f"{lengths[0]} seqlen_k: {lengths[1]}. If you would like to use causal attention with non-square masks, "
            "please see CausalAttnMask."
        )


def _obstacles_of_efficient(arguments: AttentionArguments) -> Iterator[str]:
    half = arguments.query.dtype in (torch.float16, torch.bfloat16)
    aligned = (8 if half else 4) if arguments.capability >= (8, 0) else 8 if half else 1
    q, k, v = _sizes(arguments, -1)
    if not (q == k and q > 0 and v > 0 and q % aligned == v % aligned == 0):
        yield (
            f"Mem efficient attention requires last dimension of inputs to be divisible by {aligned}. Got "
            f"Query.size(-1): {q}, Key.size(-1): {k}, Value.size(-1): {v} instead."
        )


def _obstacles_of_cudnn(arguments: AttentionArguments) -> Iterator[str]:
    """Yield the reasons, specific to cuDNN, why its kernel does not take these arguments."""
    if torch.are_deterministic_algorithms_enabled() and not torch.is_deterministic_algorithms_warn_only_enabled():
        yield "cuDNN SDPA is not deterministic."
    yield from _obstacles_of_old_gpu(arguments, "cuDNN MHA")
    q, _, v = _sizes(arguments, -1)
    most = 256 if arguments.capability == (9, 0) else 128
    if max(q, v) > most:
        yield f"head_dim should be no more than {most}"
    if q % 8 or v % 8:
        yield "head_dim should be a multiple of 8"
    if arguments.key.shape[-2] == 1:
        yield "cudnn SDPA does not support key/value sequence length 1."
    if arguments.query.shape[-2] == 1 and arguments.dropout:
        yield "cudnn SDPA does not support query sequence length 1 with dropout."


def _obstacles_of_layout(arguments: AttentionArguments, kernel: str) -> Iterator[str]:
    """Yield the reasons why a kernel does not take arguments with this layout.

    The reasons concern batch sizes, heads, lengths or strides.
    """
    shapes = [str(list(one.shape)) for one in arguments.tensors]
    sizes = f"Query.sizes(): {shapes[0]}, Key.sizes(): {shapes[1]}, Value.sizes(): {shapes[2]}"
    if len(set(_sizes(arguments, 0))) > 1:
        yield (
            "For dense inputs, both fused kernels require query, key and value to have the same batch_size. "
            f"{sizes}{_ADVICE}"
        )
    heads = _sizes(arguments, -3)
    grouped = arguments.grouped and kernel != "efficient" and heads[1] == heads[2] and heads[0] % heads[1] == 0
    if len(set(heads)) > 1 and not grouped:
        sizes = sizes.replace("Key.sizes", "Key sizes").replace("Value.sizes", "Value sizes")
        yield (
            "For dense input, both fused kernels require query, key and value to have the same num_heads. "
            f"{sizes}{_ADVICE}"
        )
    if 0 in _sizes(arguments, -2)[:2]:
        yield "All fused kernels do not support zero seq_len_q or seq_len_kv."
    strides = [one.stride(-1) for one in arguments.tensors]
    single = kernel != "efficient" and arguments.query.shape[-1] == 1
    if (set(strides) != {1} and not single) or (arguments.mask is not None and arguments.mask.stride(-1) != 1):
        mask = ""
        if arguments.mask is not None:
            mask = (
                f", Attn_mask.stride(-1): {arguments.mask.stride(-1)} (GPU backends require attn_mask's last dimension "
                "to have stride 1 while the CPU does not)."
            )
        yield (
            "All fused kernels require the last dimension of the input to have stride 1. Got Query.stride(-1): "
            f"{strides[0]}, Key.stride(-1): {strides[1]}, Value.stride(-1): {strides[2]}{mask}"
        )
