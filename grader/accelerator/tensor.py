"""The tensor on a simulated device: a CPU tensor inside, and a shell that PyTorch takes for one of another device.

The inner tensor holds the numbers. The shell has its sizes, strides, offset and dtype, and the simulated device. Two
shells share memory exactly if their inner tensors do. Operators come to `__torch_dispatch__`, which
`grader.accelerator.operators` sets; what PyTorch answers without asking an operator is answered here.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from torch._C import DispatchKey, DispatchKeySet, TensorBase

from grader.accelerator.machine import DEVICE_TO_HOST, Device, the_machine
from grader.accelerator.memory import Block
from grader.accelerator.printing import text_of

_HUGE = 1 << 60
"""What a shell claims as the size of its storage, so that its sizes and strides may be changed to anything."""

_CONJUGATE = DispatchKeySet(DispatchKey.Conjugate)
_NEGATIVE = DispatchKeySet(DispatchKey.Negative)

LEGACY = {
    torch.float32: "Float",
    torch.float64: "Double",
    torch.float16: "Half",
    torch.bfloat16: "BFloat16",
    torch.uint8: "Byte",
    torch.int8: "Char",
    torch.int16: "Short",
    torch.int32: "Int",
    torch.int64: "Long",
    torch.bool: "Bool",
}
"""The words for dtypes in the names of the old tensor types."""


class SimStorage(torch.UntypedStorage):
    """The storage of a tensor on a simulated device: CPU memory that says where it is pretended to be."""

    _place: torch.device

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The simulated device."""
        return self._place

    @property
    def is_cuda(self) -> bool:
        """Whether the device calls itself cuda."""
        return self._place.type == "cuda"

    def cpu(self) -> torch.UntypedStorage:
        """A copy on the CPU."""
        machine = the_machine()
        machine.transfer(DEVICE_TO_HOST, machine.index_of(self._place), self.nbytes())
        return _plain_copy(self)

    def clone(self) -> SimStorage:
        """A copy on the same device."""
        return as_storage(_plain_copy(self), self._place)

    def __deepcopy__(self, memo: dict[Any, Any]) -> SimStorage:
        known = memo.setdefault("torch", {})
        if self._cdata not in known:
            known[self._cdata] = self.clone()
        return known[self._cdata]  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<torch.storage.UntypedStorage of size {self.nbytes()} on {self._place}>"


def _plain_copy(storage: Any) -> torch.UntypedStorage:
    made = torch.UntypedStorage(storage.nbytes(), device="cpu")  # whatever the default device is
    to, source = (torch.empty(0, dtype=torch.uint8, device="cpu").set_(one) for one in (made, storage))
    to.copy_(source)
    return made


def as_storage(storage: torch.UntypedStorage, place: torch.device) -> SimStorage:
    """Make a storage one of a simulated device. Python keeps the object as long as the memory lives."""
    if type(storage) is not SimStorage:
        storage.__class__ = SimStorage
        storage._place = place  # type: ignore[attr-defined]
    return storage  # type: ignore[return-value]


class SimTensor(torch.Tensor):
    """A tensor on a simulated device. `type(t)` shows as `torch.Tensor`, though it is not the same object."""

    _inner: torch.Tensor
    _place: Device
    _block: Block

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """What `torch.Tensor(...)` gives, for code that calls `type(t)`."""
        return torch.Tensor(*args, **kwargs)

    def __init_subclass__(cls) -> None:
        raise NotImplementedError("a class derived from the tensors of the simulated device is not supported")

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The device, by its public name."""
        return self._place.public

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        """Whether the device calls itself cuda."""
        return self._place.public.type == "cuda"

    def get_device(self) -> int:
        """The index of the device."""
        return self._place.index

    @property
    def data(self) -> torch.Tensor:
        """The same memory, not known to autograd."""
        return TensorBase.data.__get__(self)  # type: ignore[attr-defined, no-any-return]

    @data.setter
    def data(self, new: torch.Tensor) -> None:
        set_data(self, new)

    # -- memory

    def untyped_storage(self) -> torch.UntypedStorage:
        """The storage, which knows its device; equal addresses mean shared memory."""
        return as_storage(self._inner.untyped_storage(), self._place.public)

    def _typed_storage(self) -> Any:
        return torch.storage.TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)

    def storage(self) -> Any:
        """The old, typed storage."""
        torch.storage._warn_typed_storage_removal(stacklevel=2)
        return self._typed_storage()

    def data_ptr(self) -> int:
        """The address of the first number."""
        return self._inner.data_ptr()

    def is_shared(self) -> bool:
        """True, as on CUDA."""
        return True

    def share_memory_(self) -> SimTensor:
        """Does nothing, as on CUDA."""
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """False: only host memory can be pinned."""
        del device
        return False

    def pin_memory(self, device: Any = None) -> torch.Tensor:
        """Raise, as on CUDA."""
        del device
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")

    def record_stream(self, stream: Any) -> None:
        """Does nothing: memory is not given away before its last use."""

    # -- to the host

    def numpy(self, *, force: bool = False) -> Any:
        """Raise as on CUDA, unless forced."""
        if force:
            return self.detach().cpu().resolve_conj().resolve_neg().numpy()
        return self.__array__()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )

    def __dlpack__(self, **unused: Any) -> Any:
        raise BufferError(f"the memory of {self.device} is simulated and cannot be given to other libraries")

    def tolist(self) -> Any:
        """The numbers, after one copy to the host."""
        the_machine().transfer(DEVICE_TO_HOST, self._place.index, self.numel() * self.element_size())
        return self._inner.tolist()

    def __format__(self, spec: str) -> str:
        if self.dim() == 0 and spec:
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __repr__(self, *, tensor_contents: Any = None) -> Any:  # type: ignore[override]
        nbytes = self.numel() * self.element_size()
        if nbytes:
            the_machine().transfer(DEVICE_TO_HOST, self._place.index, nbytes)
        return text_of(self, self._inner, tensor_contents)

    # -- indices: of lists PyTorch makes tensors on index 0, whatever the index of this one

    def __getitem__(self, index: Any) -> Any:
        return torch.Tensor.__getitem__(self, self._as_index(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        torch.Tensor.__setitem__(self, self._as_index(index), value)

    def _as_index(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(self._as_index(part) for part in index)
        if not isinstance(index, (list, np.ndarray)):
            return index
        options = {"dtype": torch.int64} if not len(index) else {}
        return torch.as_tensor(index, device=self._place.inner, **options)

    # -- old ways to convert, copies, pickles

    def type(self, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        """The name of the old tensor type, or the tensor converted to a dtype or to such a type."""
        if dtype is not None:
            return torch.Tensor.type(self, dtype, non_blocking, **kwargs)
        return f"torch.{self.device.type}.{LEGACY.get(self.dtype, str(self.dtype))}Tensor"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment.  If you were attempting to deepcopy a module, this may be because of a torch.nn.utils."
                "weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
            )
        storage = copy.deepcopy(self.untyped_storage(), memo)
        with torch.no_grad():
            inner = torch.empty(0, dtype=self.dtype, device="cpu").set_(
                storage, self.storage_offset(), self.size(), self._inner.stride()
            )
            inner = _with_bits(inner, self._inner)
        made = wrap(inner, self._place)
        memo[id(self)] = made
        made.requires_grad_(self.requires_grad)
        if self.grad is not None:
            made.grad = copy.deepcopy(self.grad, memo)
        _keep_extras(self, made, memo)
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        inner = self._inner
        storage = self._typed_storage()
        hooks: OrderedDict[Any, Any] = OrderedDict()
        layout = (storage, inner.storage_offset(), tuple(inner.size()), inner.stride())
        if getattr(self, "_is_param", False):
            whole = (torch._utils._rebuild_tensor_v2, (*layout, False, hooks))
            return torch._utils._rebuild_parameter, (_Reduced(whole), self.requires_grad, hooks)
        if inner.is_conj() or inner.is_neg():
            bits = {name: True for name, on in (("conj", inner.is_conj()), ("neg", inner.is_neg())) if on}
            return torch._utils._rebuild_tensor_v2, (*layout, self.requires_grad, hooks, bits)
        return torch._utils._rebuild_tensor_v2, (*layout, self.requires_grad, hooks)


class _Reduced:
    """Pickles as what was given."""

    def __init__(self, whole: Any) -> None:
        self.whole = whole

    def __reduce__(self) -> Any:
        return self.whole


SimTensor.__module__, SimTensor.__qualname__, SimTensor.__name__ = "torch", "Tensor", "Tensor"


def wrap(inner: torch.Tensor, place: Device, block: Block | None = None) -> SimTensor:
    """A shell around a CPU tensor.

    Args:
        inner: a plain CPU tensor; must not require a gradient.
        place: the device on which it is pretended to be.
        block: that of its storage, looked up if it is left out.
    """
    if block is None:
        block = the_machine().block_of(inner, place.index)
    made: Any = _make(
        SimTensor,
        inner.size(),
        strides=inner.stride(),
        storage_offset=inner.storage_offset(),
        dtype=inner.dtype,
        device=place.inner,
        storage_size=_HUGE,
        **_bits(inner),
    )
    made._inner = inner
    made._place = place
    made._block = block
    return made  # type: ignore[no-any-return]


_make = torch.Tensor._make_wrapper_subclass


def _bits(inner: torch.Tensor) -> dict[str, Any]:
    conj, neg = inner.is_conj(), inner.is_neg()
    if not conj and not neg:
        return {}
    return {"_extra_dispatch_keys": _CONJUGATE | _NEGATIVE if conj and neg else _CONJUGATE if conj else _NEGATIVE}


def _with_bits(made: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    if like.is_conj():
        made = made.conj()
    return torch._neg_view(made) if like.is_neg() else made


def _keep_extras(old: SimTensor, new: SimTensor, memo: dict[int, Any]) -> None:
    own = {"_inner", "_place", "_block"}
    for name, value in old.__dict__.items():
        if name not in own:
            setattr(new, name, copy.deepcopy(value, memo))


def set_data(tensor: torch.Tensor, new: torch.Tensor) -> None:
    """What `tensor.data = new` does, from any device to any other: the tensor stays the same object."""
    ours = (type(tensor) is SimTensor) + (type(new) is SimTensor)
    if ours == 1:
        is_parameter = isinstance(tensor, torch.nn.Parameter)
        fresh = torch.nn.Parameter(new, tensor.requires_grad) if is_parameter else new.detach()
        become(tensor, fresh.requires_grad_(tensor.requires_grad))
        return
    TensorBase.data.__set__(tensor, new)  # type: ignore[attr-defined]
    if ours:
        tensor._inner, tensor._place, tensor._block = new._inner, new._place, new._block  # type: ignore[attr-defined]


def become(tensor: torch.Tensor, other: torch.Tensor) -> None:
    """Let a tensor be another one from now on; `torch.utils.swap_tensors` refuses where a graph still holds it."""
    names = [(name, getattr(tensor, name), getattr(other, name)) for name in ("__class__", "__dict__")]
    for name, mine, theirs in names:
        setattr(tensor, name, theirs)
        setattr(other, name, mine)
    torch._C._swap_tensor_impl(tensor, other)


def refresh(shell: SimTensor) -> None:
    """Give a shell the sizes, strides, offset and dtype that its inner tensor has by now."""
    if shell._inner.untyped_storage()._cdata != shell._block.key:
        shell._block = the_machine().block_of(shell._inner, shell._place.index)
    torch._C._set_conj(shell, shell._inner.is_conj())
    torch._C._set_neg(shell, shell._inner.is_neg())
    TensorBase.data.__set__(shell, wrap(shell._inner, shell._place, shell._block))  # type: ignore[attr-defined]
