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
    "max_all": "max_all_cuda",
    "min_all": "min_all_cuda",
}
"""Kernels whose names are not those of the CPU with another ending."""

_NO_KERNEL = re.compile(r"^Could not run '(\w+::[\w.]+)' with arguments from the '\w*CPU' backend")

_KERNEL = re.compile(r'^"(\w+)" not implemented for')


def as_cuda_error(error: Exception) -> Exception:
    """Return the error of a CPU kernel in the words of CUDA's kernel, with that kernel's name and CUDA's types."""
    text = str(error)
    if lacking := _NO_KERNEL.match(text):
        return refusal(
            f"The operator '{lacking.group(1)}' is not supported on the simulated device: the CPU, which computes "
            "here, has no kernel for it."
        )
    if named := _KERNEL.match(text):
        name = named.group(1)
        text = text.replace(name, _OTHER.get(name, re.sub(r"_cpu$", "_cuda", name)), 1)
    text = text.replace("expected m1 and m2 to have the same dtype", "expected mat1 and mat2 to have the same dtype")
    text = re.sub(r"(but got torch\.)(?=\w+Tensor instead)", r"\1cuda.", text)
    return error if text == str(error) else type(error)(text)


def use_public_name_in_errors(original: Any) -> Any:
    """Return a function that calls `original`, and whose errors have the device's public name in place of C++'s."""

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
