"""Error messages of the CPU's kernels, which compute here, in the words of CUDA's kernels."""

from __future__ import annotations

import functools
import re
from typing import Any

from grader.accelerator.refusals import refusal
from grader.accelerator.sim.machine import INNER, the_machine

_OTHER = {
    "add_stub": "ufunc_add_CUDA",
    "softmax_kernel_impl": "host_softmax",
    "softmax_lastdim_kernel_impl": "host_softmax",
    "log_softmax_kernel_impl": "host_softmax",
    "log_softmax_lastdim_kernel_impl": "host_softmax",
    "max_all": "max_all_cuda",
    "min_all": "min_all_cuda",
    "maximum_cpu": "max_elementwise_cuda",
    "minimum_cpu": "min_elementwise_cuda",
    **dict.fromkeys(("lt_cpu", "le_cpu", "gt_cpu", "ge_cpu"), "compare_cuda"),
    **dict.fromkeys(("eq_cpu", "ne_cpu"), "compare_eq_ne_cuda"),
    **dict.fromkeys(("clamp_scalar_cpu", "clamp_min_scalar_cpu", "clamp_max_scalar_cpu"), "clamp_scalar_cuda"),
    "GeluKernelImpl": "GeluCUDAKernelImpl",
    "GeluBackwardKernelImpl": "GeluBackwardCUDAKernelImpl",
    "log_sigmoid_cpu": "log_sigmoid_forward_cuda",
    "addcmul_cpu_out": "addcmul_cuda",
    "addcdiv_cpu_out": "addcdiv_cuda",
    "lerp_kernel_tensor": "lerp_cuda",
    "lerp_kernel_scalar": "lerp_cuda",
    "cumsum_out_cpu": "cumsum_cuda",
    "cumprod_out_cpu": "cumprod_cuda",
    "logcumsumexp_out_cpu": "logcumsumexp_cuda",
    "nonzero_count_cpu": "nonzero_cuda",
    "median_cpu": "median_out_impl",
    "median_out": "median_out_impl",
    "topk_cpu": "topk_out_cuda",
    "addmm_impl_cpu_": "addmm_cuda",
    "cdist": "cdist_cuda",
    "pdist": "pdist_cuda",
    "lu_cpu": "lu_factor_cusolver",
    "linalg_svd_cpu": "svd_cusolver",
    "tril": "triu_tril_cuda_template",
    "triu": "triu_tril_cuda_template",
    "bernoulli_scalar_cpu_": "bernoulli_scalar_cuda_",
    "bernoulli_tensor_cpu_self_": "bernoulli_tensor_cuda_self_",
    "upsample_bilinear2d_channels_last": "upsample_bilinear2d_out_frame",
    "upsample_nearest2d_channels_last": "upsample_nearest2d_out_frame",
}
"""Kernels whose names are not those of the CPU with another ending, as `libtorch_cuda.so` of 2.14 has them."""

_NO_KERNEL = re.compile(r"^Could not run '(\w+::[\w.]+)' with arguments from the '\w*CPU' backend")

_KERNEL = re.compile(r'^"(\w+)" not implemented for')


def as_cuda_error(error: Exception) -> Exception:
    """Return the error of a CPU kernel in the words of CUDA's kernel.

    `"softmax_kernel_impl" not implemented for 'Int'` becomes `"host_softmax" not implemented for 'Int'`. If the CPU has
    no kernel, the error says that the simulated device does not support the operator.
    """
    text = str(error)
    if lacking := _NO_KERNEL.match(text):
        return refusal(
            f"The operator '{lacking.group(1)}' is not supported on the simulated device: the CPU, which computes "
            "here, has no kernel for it."
        )
    if named := _KERNEL.match(text):
        name = named.group(1)
        text = text.replace(name, _OTHER.get(name, re.sub(r"(_vml)?_cpu$", "_cuda", name)), 1)
    text = text.replace("expected m1 and m2 to have the same dtype", "expected mat1 and mat2 to have the same dtype")
    text = re.sub(r"(but got torch\.)(?=\w+Tensor instead)", r"\1cuda.", text)
    return error if text == str(error) else type(error)(text)


def use_public_name_in_errors(original: Any) -> Any:
    """Return a function that calls `original`, with the public device name in its errors.

    In mode cuda, where C++ writes "sim:0" or "simFloatType", the program reads "cuda:0" or "torch.cuda.FloatTensor".
    """

    @functools.wraps(original)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return original(*args, **kwargs)
        except RuntimeError as error:
            raise _with_public_names(the_machine().kind, error) from None

    return call


def _with_public_names(kind: str, error: RuntimeError) -> RuntimeError:
    text = str(error)
    # The list of types whose names PyTorch rewrites has no complex ones: torch/csrc/Exceptions.cpp.
    if kind == "cuda":
        text = re.sub(rf"\b{INNER}(Complex\w+Type)\b", r"CUDA\1", text)
    text = re.sub(rf"\b{INNER}(\w+)Type\b", rf"torch.{kind}.\1Tensor", text)
    text = text.replace(f"{INNER}:", f"{kind}:").replace(f"'{INNER}'", f"'{kind}'")
    return error if type(error) is not RuntimeError or text == str(error) else RuntimeError(text)
