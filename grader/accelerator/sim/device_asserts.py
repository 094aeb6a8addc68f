"""Device-side asserts: errors that a kernel finds in numbers on the device, and that a later call raises.

Only a device that calls itself cuda has them. Under its own name the device raises at once, with the CPU's words.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree

from grader.accelerator.schema.facts import OperatorFacts
from grader.accelerator.sim.cuda_errors import cuda_error

_INDEX = (
    'IndexKernel.cu:111: operator(): {at} Assertion `-sizes[i] <= index && index < sizes[i] && "index out of bounds"`'
)

_SELECT = "Indexing.cu:1553: indexSelectLargeIndex: {at} Assertion `srcIndex < srcSelectDimSize`"

_SCATTER = (
    "ScatterGatherKernel.cu:145: operator(): {at} Assertion "
    '`idx_dim >= 0 && idx_dim < index_size && "index out of bounds"`'
)

_CLASSES = "Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: {at} Assertion `t >= 0 && t < n_classes`"

_SHARES = "Loss.cu:94: operator(): {at} Assertion `input_val >= zero && input_val <= one`"

_DRAW = (
    "TensorCompare.cu:112: _assert_async_cuda_kernel: {at} Assertion "
    "`probability tensor contains either `inf`, `nan` or element < 0`"
)

_BAG = "EmbeddingBag.cu:102: EmbeddingBag_updateOutputKernel_sum_mean: {at} Assertion `input[emb] < numRows`"

_LARGEST_OF_BAG = _BAG.replace("Kernel_sum_mean", "Kernel_max").replace("cu:102", "cu:61")

_CHANCE = "Distributions.cu:119: operator(): {at} Assertion `0 <= p1 && p1 <= 1`"

_SUM = "MultinomialKernel.cu:112: sampleMultinomialOnce: {at} Assertion `sum > accZero`"

_ASSERT = "TensorCompare.cu:112: _assert_async_cuda_kernel: {at} Assertion `input[0] != 0`"

_RATE = (
    'Distributions.cu:76: operator(): {at} Assertion `lambda >= 0 && "invalid Poisson rate, expected to be non-neg"`'
)

_TARGET = (
    "MultiMarginLoss.cu:34: MultiMarginLoss_forward_kernel: {at} Assertion "
    '`target_k >= 0 && target_k < dim && "target index is out of bounds"`'
)

_PLACE = "MaxUnpooling.cu:47: max_unpooling2d_forward_kernel: {at} Assertion `maxind >= 0 && maxind < outputImageSize`"

_AT = "block: [0,0,0], thread: [0,0,0]"

_FOUND = {
    r"index -?\d+ is out of bounds for dimension -?\d+ with size \d+": _INDEX,
    r"index out of range in self|out of range: tried to access index": _SELECT,
    r"Target -?\d+ is out of bounds": _CLASSES,
    r"all elements of (input|target) should be between 0 and 1": _SHARES,
    r"probability tensor contains either `inf`, `nan` or element < 0": _DRAW,
    r"Index \d+ of input takes value -?\d+ which is not in the valid range": _BAG,
    r"Expected idx >= 0 && idx < num_embeddings but found idx to be -?\d+": _LARGEST_OF_BAG,
    r"Expected p_in >= 0 && p_in <= 1 to be true": _CHANCE,
    r"invalid Poisson rate, expected rate to be non-negative": _RATE,
    r"^target out of range$": _TARGET,
    r"Found an invalid max index: -?\d+": _PLACE,
    r"invalid multinomial distribution \(sum of probabilities <= 0\)": _SUM,
    r"Expected Tensor with single nonzero value, but got zero": _ASSERT,
}
"""The errors of CPU kernels, as patterns, for which CUDA's kernels fail on the device; and what these print."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kernel that failed: the device does no more work, and later calls on the host raise.

    Attributes:
        moment: the virtual time at which the kernel is done, in seconds.
        text: the text that it prints.
    """

    moment: float
    text: str

    def error(self, *, print_text: bool) -> Exception:
        """Return the error that a call on the host raises after the failure.

        Args:
            print_text: True if `text` is written to stderr, as for the first call that raises.
        """
        if print_text:
            sys.stderr.write(f"{self.text}\n")
        return cuda_error("device-side assert triggered", "cudaErrorAssert")


def assertion_text(facts: OperatorFacts, error: Exception) -> str:
    """Return the text of CUDA's device-side assert for an error of a CPU kernel.

    For "Target 9 is out of bounds." it ends in "Assertion `t >= 0 && t < n_classes` failed." It is "" if CUDA raises
    such an error on the host.
    """
    text = next((printed for said, printed in _FOUND.items() if re.search(said, str(error))), "")
    if text is _INDEX and facts.name.startswith(("gather", "scatter")):
        text = _SCATTER
    return text and f"/pytorch/aten/src/ATen/native/cuda/{text.format(at=_AT)} failed."


def check_storage_bounds(kind: str, tensors: list[Any]) -> None:
    """Raise an error if a tensor reaches beyond the end of its storage.

    The storage's `resize_` may have shrunk it. On a GPU the kernel would read other memory.

    Args:
        kind: the kind of the simulated device: "cuda" or "sim".
        tensors: tensors of the device.
    """
    for tensor in tensors:
        inner = tensor._inner
        if inner.layout is not torch.strided or not inner.numel() or inner.is_meta:
            continue
        last = sum((size - 1) * stride for size, stride in zip(inner.shape, inner.stride(), strict=True))
        if inner.untyped_storage().nbytes() < (inner.storage_offset() + last + 1) * inner.element_size():
            said = "an illegal memory access was encountered"
            raise cuda_error(said, "cudaErrorIllegalAddress") if kind == "cuda" else RuntimeError(said)


def placeholder_output(facts: OperatorFacts, func: Any, inner: list[Any], named: dict[str, Any]) -> Any:
    """Return a result for an operator whose kernel failed.

    It is the argument that the operator writes to, or zeros of the right shapes. The program never reads these numbers:
    its next wait for the device raises.

    Args:
        facts: the facts of the operator.
        func: the operator.
        inner: its positional arguments, with inner CPU tensors in place of those of the device.
        named: its arguments by name, in the same way.
    """
    for name, value in [*zip(facts.names, inner, strict=False), *named.items()]:
        if name in facts.writes:
            return value

    def shape_of(value: Any) -> Any:
        return value.to("meta") if isinstance(value, torch.Tensor) else value

    made = func(*_pytree.tree_map(shape_of, inner), **_pytree.tree_map(shape_of, named))
    return _pytree.tree_map_only(torch.Tensor, lambda tensor: torch.zeros_like(tensor, device="cpu"), made)
