"""Packages that programs for CUDA import and that need a real GPU: what to do without them."""

from __future__ import annotations

import traceback

_GPU = "it needs an NVIDIA GPU, which the simulated device is not"
_ADVICE = {
    "triton": f"triton compiles kernels for a GPU: {_GPU}. Use the kernel's formula in operators of torch.",
    "flash_attn": f"flash-attn is built with nvcc, and {_GPU}. Use torch.nn.functional.scaled_dot_product_attention.",
    "bitsandbytes": f"bitsandbytes has kernels of its own: {_GPU}. Use torch.optim, and weights in bfloat16.",
    "xformers": f"xformers has kernels of its own: {_GPU}. Use torch.nn.functional.scaled_dot_product_attention.",
    "apex": f"apex is built with nvcc, and {_GPU}. Use torch.amp, and torch.optim with fused=True.",
    "cupy": f"cupy calls CUDA itself: {_GPU}. Use operators of torch.",
    "pynvml": f"pynvml asks NVIDIA's driver: {_GPU}. Use torch.cuda.mem_get_info.",
    "transformer_engine": f"transformer_engine is built with nvcc, and {_GPU}. Use the layers of torch.nn.",
    "deepspeed": f"deepspeed builds kernels with nvcc, and {_GPU}. Use torch.distributed.fsdp.",
}


def note_missing(error: BaseException) -> None:
    """Add a note to an error that was raised because a package needs a real GPU.

    The note says why the package cannot run, and what to use instead. For flash_attn, this is
    `torch.nn.functional.scaled_dot_product_attention`. Any other error stays as it is.
    """
    if isinstance(error, ModuleNotFoundError):
        name = (error.name or "").partition(".")[0]
    else:
        name = _package_without_driver(error)
    if name in _ADVICE and not getattr(error, "__notes__", []):
        error.add_note(_ADVICE[name])


def _package_without_driver(error: BaseException) -> str:
    """Return "triton" if triton raised the error because it found no GPU driver.

    For any other error, return "". Builds of PyTorch for CUDA install triton, so its import succeeds.
    """
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    module = frames[-1].f_globals.get("__name__", "") if frames else ""
    return "triton" if module.startswith(("triton.backends.", "triton.runtime.driver")) else ""
