"""The tensor on a simulated device: a CPU tensor inside, and a wrapper that PyTorch takes for one of another device.

The inner tensor holds the numbers. The wrapper has its sizes, strides, offset and dtype, and the simulated device. Two
wrappers share memory exactly if their inner tensors do. Operators come to `__torch_dispatch__`, which
`grader.accelerator.dispatch.run` sets; what PyTorch answers without asking an operator is answered here.
"""

from __future__ import annotations

import copy
import copyreg
import weakref
from collections.abc import Mapping
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet, TensorBase

from grader.accelerator.core.attributes import (
    ProgramAttributes,
    all_attributes,
    attributes_of_program,
    set_all_attributes,
    set_program_attributes,
)
from grader.accelerator.core.copies_and_pickles import deep_copy, reduce_ex_value
from grader.accelerator.core.indexing import as_index
from grader.accelerator.core.printing import text_of
from grader.accelerator.core.sparse import nbytes_of, parts_of, text_of_sparse, wrapper_options
from grader.accelerator.core.storage import convert_storage
from grader.accelerator.refusals import refusal
from grader.accelerator.sim.addresses import address_of_first_element
from grader.accelerator.sim.counters import DEVICE_TO_HOST
from grader.accelerator.sim.machine import Device, the_machine
from grader.accelerator.sim.races import Block

_HUGE = 1 << 60
"""What a wrapper claims as the size of its storage, so that its sizes and strides may be changed to anything."""

# PyTorch knows lazy conjugation and negation by these keys, and calls an operator with them to do what was put off.
_CONJUGATE = DispatchKeySet(DispatchKey.Conjugate)

_NEGATIVE = DispatchKeySet(DispatchKey.Negative)

LEGACY_DEVICE = "legacy constructor expects device type: {} but device type: {} was passed"

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


class _SimTensorMeta(torch._C._TensorMeta):
    """The metaclass by which `type(t) == torch.Tensor` is True, also in a list and as a key; `is` stays False."""

    stands_for: Any = torch.Tensor

    def __eq__(self, other: object) -> bool:
        return other is self or other is self.stands_for

    def __hash__(self) -> int:
        return hash(self.stands_for)


class _ClassOnDeviceMeta(_SimTensorMeta):
    """The metaclass of classes that tensors on the device have: `isinstance(x, type(t))` is True for CPU tensors, too.

    `SimTensor` itself has not got it: this package asks by `isinstance` whether a tensor is on the device.
    """

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self.stands_for)

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(getattr(subclass, "stands_for", subclass), self.stands_for)


# `copy.copy` returns a class itself: a pickled `type(t)` is the class that PyTorch's users know.
copyreg.pickle(_ClassOnDeviceMeta, lambda kind: (copy.copy, (kind.stands_for,)))


def _number_on_host(value: Any, target: SimTensor) -> torch.Tensor:
    """Return a number as a CPU tensor of the dtype of `target`.

    If `target[index] = value` sets one element, this number is then copied from the host, which waits. A larger part of
    `target` is filled with the number. For CUDA, python_variable_indexing.cpp does the same.

    Raises:
        TypeError: `value` is not a number.
    """
    number = torch.empty((), dtype=target.dtype, device="cpu")
    try:
        number[...] = value
    except TypeError as error:
        raise TypeError(str(error).replace(number.type(), target.type())) from None
    return number


SUBCLASS = (
    "a tensor of the class {}, which has a __torch_dispatch__ of its own, cannot lie on the simulated device; move a "
    "plain tensor there (call .as_subclass(torch.Tensor) before), or let the class hold a tensor instead of being one"
)


class SimTensor(torch.Tensor, metaclass=_SimTensorMeta):
    """A tensor on a simulated device: a wrapper subclass around a CPU tensor, `_inner`, that holds the numbers.

    Each tensor is of a class derived from this one.
    """

    _inner: torch.Tensor
    _place: Device
    _block: Block
    _others: list[Block]

    # Switched off, as it is for parameters: PyTorch's own would make every outcome one of this class, those on the CPU,
    # too.
    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return `torch.Tensor(...)`, for code that calls `type(t)(...)`."""
        return torch.Tensor(*args, **kwargs)

    @property
    def __dict__(self) -> dict[str, Any]:
        return ProgramAttributes(self)

    @__dict__.setter
    def __dict__(self, attributes: Mapping[str, Any]) -> None:
        set_program_attributes(self, attributes)

    @property
    def device(self) -> torch.device:  # type: ignore[override]
        """The simulated device, by its public name, such as `cuda:0`."""
        return self._place.public

    @property
    def is_cuda(self) -> bool:  # type: ignore[override]
        """Whether the simulated device has the name `cuda`."""
        return self._place.public.type == "cuda"

    def as_subclass(self, cls: Any) -> Any:
        """Return an alias of the tensor whose class is `cls`.

        PyTorch calls this for the results of operators on a derived class.
        """
        with torch._C.DisableTorchFunctionSubclass():
            made = torch.ops.aten.alias.default(self)
        if cls is not torch.Tensor and cls is not PlainSimTensor:
            made.__class__ = class_on_device(cls)
        return made

    def get_device(self) -> int:
        """Return the index of the device."""
        return self._place.index

    @property
    def data(self) -> torch.Tensor:
        """A tensor with the same memory, which autograd does not follow."""
        return TensorBase.data.__get__(self)  # type: ignore[attr-defined, no-any-return]

    @data.setter
    def data(self, new: torch.Tensor) -> None:
        set_data(self, new)

    # -- memory

    def untyped_storage(self) -> torch.UntypedStorage:
        """Return the storage as a `SimStorage`.

        Tensors that share memory return the same object.
        """
        if self._inner.layout is not torch.strided:
            raise NotImplementedError("Cannot access storage of SparseTensorImpl")
        # The CPU's own storage, with a label: addresses, sharing and lifetime are then right by themselves.
        return convert_storage(self._inner.untyped_storage(), self._place.public)

    def _typed_storage(self) -> Any:
        return torch.storage.TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype, _internal=True)

    def storage(self) -> Any:
        """Return the storage as a `TypedStorage`, with PyTorch's warning for this class.

        PyTorch warns that the class is deprecated.
        """
        torch.storage._warn_typed_storage_removal(stacklevel=2)
        return self._typed_storage()

    def data_ptr(self) -> int:
        """Return the address of the first element on the device.

        As on CUDA, a storage begins at a multiple of 512.
        """
        return address_of_first_element(self._inner)

    def is_shared(self) -> bool:
        """Return True, as on CUDA."""
        return True

    def share_memory_(self) -> SimTensor:
        """Do nothing, as on CUDA, and return the tensor."""
        return self

    def is_pinned(self, device: Any = None) -> bool:
        """Return False: only host memory can be pinned."""
        del device
        return False

    def pin_memory(self, device: Any = None) -> torch.Tensor:
        """Raise `RuntimeError`, as on CUDA: only CPU tensors can be pinned."""
        del device
        raise RuntimeError(f"cannot pin '{self.type()}' only dense CPU tensors can be pinned")

    def record_stream(self, stream: Any) -> None:
        """Record that a stream uses the tensor's memory.

        The memory is reused only after the work that the stream has when the tensor is freed.
        """
        self._block.shared |= {stream.queue}

    def map_(self, *unused: Any) -> Any:
        """Raise `TypeError`, as on CUDA: only a CPU tensor calls Python code for each element."""
        del unused
        raise TypeError("map_ is only implemented on CPU tensors")

    def map2_(self, *unused: Any) -> Any:
        """Raise `TypeError`, as `map_` does."""
        del unused
        raise TypeError("map2_ is only implemented on CPU tensors")

    # -- to the host

    def numpy(self, *, force: bool = False) -> Any:
        """Raise `TypeError`, as on CUDA, unless `force` is True.

        With `force=True`, return a copy as a NumPy array.
        """
        if force and self._inner.layout is torch.strided:
            return self.detach().cpu().resolve_conj().resolve_neg().numpy()
        # The same error, whether NumPy or the program asks.
        return self.__array__()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if self._inner.layout is not torch.strided:
            self._inner.numpy()  # which raises for the layout first
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )

    def __dlpack__(self, **unused: Any) -> Any:
        raise BufferError(
            f"the memory of {self.device} is simulated and cannot be given to other libraries; give them its .cpu()"
        )

    def tolist(self) -> Any:
        """Return the numbers as nested lists, after one copy to the host."""
        # Through `item` each number would be a wait of its own; a GPU sends them all at once.
        machine = the_machine()
        machine.record_use(self._place, "tolist", [self._block], [])
        machine.transfer(DEVICE_TO_HOST, self._place.index, self.numel() * self.element_size())
        return self._inner.tolist()

    def __format__(self, spec: str) -> str:
        if self.dim() == 0 and not getattr(self, "_is_param", False):
            return format(self.item(), spec)
        return object.__format__(self, spec)

    def __repr__(self, *, tensor_contents: Any = None) -> Any:  # type: ignore[override]
        nbytes = nbytes_of(self._inner)
        # Whoever prints reads the numbers, and a GPU would have to send them.
        if nbytes:
            the_machine().record_use(self._place, "repr", [self._block], [])
            the_machine().transfer(DEVICE_TO_HOST, self._place.index, nbytes)
        if self._inner.layout is not torch.strided:
            return text_of_sparse(self, self._inner)
        return text_of(self, self._inner, tensor_contents)

    def new(self, *args: Any, device: Any = None) -> torch.Tensor:  # type: ignore[override]
        """Return a new tensor of the same dtype and device: the legacy constructor `Tensor.new`."""
        machine = the_machine()
        if device is not None and not isinstance(device, int) and not machine.is_simulated(device):
            raise RuntimeError(LEGACY_DEVICE.format(machine.kind, torch.device(device).type))
        if args and isinstance(args[0], (torch.UntypedStorage, torch.TypedStorage)):
            return TensorBase.new(self, *args)
        place = self._place.inner if device is None else machine.inner_device(device)
        if not args:  # C++ forgets the index
            return torch.empty(0, dtype=self.dtype, device=place)
        return TensorBase.new(self, *args, device=place)

    # -- indices

    def __getitem__(self, index: Any) -> Any:
        return torch.Tensor.__getitem__(self, as_index(index, self._place.inner))

    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, torch.Tensor) and self.is_cuda:
            value = _number_on_host(value, self)
        torch.Tensor.__setitem__(self, as_index(index, self._place.inner), value)

    # -- old ways to convert, copies, pickles

    def type(self, dtype: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        """Return the name of the tensor's legacy type, such as `torch.cuda.FloatTensor`.

        With a `dtype`, return the tensor converted to it instead.
        """
        if dtype is not None:
            return torch.Tensor.type(self, dtype, non_blocking, **kwargs)
        return self._inner.type().replace("torch.", f"torch.{self.device.type}.", 1)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self._inner.layout is not torch.strided:
            return wrap(self._inner.clone(), self._place).requires_grad_(self.requires_grad)
        with torch._C.DisableTorchFunctionSubclass():
            return deep_copy(self, memo, wrap)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return what pickle needs to rebuild the tensor.

        A tensor of a class that the program derived is rebuilt as a tensor of that class.
        """
        if self._inner.layout is not torch.strided:
            return torch.Tensor._reduce_ex_internal(self, protocol)  # type: ignore[no-untyped-call]
        cls: Any = type(self)
        with torch._C.DisableTorchFunctionSubclass():
            function, args = reduce_ex_value(self)
        state = attributes_of_program(self)
        if cls is PlainSimTensor and not state:
            return function, args
        if issubclass(cls.stands_for, torch.nn.Parameter):  # whose own class PyTorch does not keep
            return (torch._utils._rebuild_parameter_with_state, (*args, state)) if state else (function, args)
        return torch._tensor._rebuild_from_type_v2, (function, cls.stands_for, args, state)


class PlainSimTensor(SimTensor, metaclass=_ClassOnDeviceMeta):
    """A tensor on a simulated device that is of no class of the program."""

    stands_for = torch.Tensor


class SimParameter(SimTensor, metaclass=_ClassOnDeviceMeta):
    """A parameter on a simulated device."""

    stands_for = torch.nn.Parameter
    _is_param = True

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        # As `nn.Parameter` does: the numbers and `requires_grad`, without the gradient and other attributes.
        if id(self) not in memo:
            made: Any = self.data.clone(memory_format=torch.preserve_format)
            made.__class__ = type(self)
            made._is_param = True
            made.requires_grad = self.requires_grad  # not by `requires_grad_`, which `vmap` and its like refuse
            memo[id(self)] = made
        return memo[id(self)]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Return `torch.nn.Parameter(...)`, for code that calls `type(p)(...)`."""
        return torch.nn.Parameter(*args, **kwargs)


def _refuse_subclass(cls: type) -> None:
    if "stands_for" not in vars(cls):
        raise refusal("a class derived from the tensors of the simulated device is not supported")


_classes: dict[type, Any] = {}


def class_on_device(cls: Any) -> Any:
    """Return the class that a tensor of a program's class has on the device.

    It is derived from `cls` and from `SimTensor`, so that `isinstance(x, cls)` stays True on the device.

    Args:
        cls: a class derived from `torch.Tensor`.

    Raises:
        NotImplementedError: `cls` has a `__torch_dispatch__` of its own, which would not find the tensor's memory.
    """
    if cls in _classes:
        return _classes[cls]
    if isinstance(cls, _ClassOnDeviceMeta):
        return cls
    if cls.__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        raise refusal(SUBCLASS.format(cls.__name__))
    own: dict[str, Any] = {name: getattr(cls, name) for name in ("__module__", "__qualname__", "__doc__")}
    own["stands_for"] = cls
    if cls.__torch_function__ is torch._C._disabled_torch_function_impl:
        own["__torch_function__"] = torch._C._disabled_torch_function_impl
    else:
        # The program's class gets itself as the class: what it makes of an outcome may be a tensor of the CPU.
        def torch_function(ours: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del ours
            return cls.__torch_function__(func, [getattr(kind, "stands_for", kind) for kind in types], args, kwargs)

        own["__torch_function__"] = classmethod(torch_function)
    if cls.__reduce_ex__ is torch.nn.Parameter.__reduce_ex__:
        own["__reduce_ex__"] = SimTensor.__reduce_ex__
    meta = type(cls)
    ours = _ClassOnDeviceMeta
    kind = ours if issubclass(ours, meta) else type(meta.__name__, (ours, meta), {})
    parent = SimParameter if issubclass(cls, torch.nn.Parameter) else SimTensor
    _classes[cls] = made = kind(cls.__name__, (cls, parent), own)
    return made


for _ours, _name in (
    (SimTensor, "torch.Tensor"),
    (PlainSimTensor, "torch.Tensor"),
    (SimParameter, "torch.nn.parameter.Parameter"),
):
    # Messages and `type(t)` show what they would show of any tensor. Nothing looks the classes up by these names: files
    # and pickles hold no reference to them.
    _ours.__module__, _, _ours.__name__ = _name.rpartition(".")
    _ours.__qualname__ = _ours.__name__
    _ours.__init_subclass__ = classmethod(_refuse_subclass)  # type: ignore[method-assign, assignment]


def wrap(inner: torch.Tensor, place: Device, block: Block | None = None) -> SimTensor:
    """Wrap a CPU tensor as a tensor of the simulated device.

    The wrapper is an instance of a wrapper subclass, without memory of its own.

    Args:
        inner: a plain CPU tensor; must not require a gradient.
        place: the device that the wrapper reports.
        block: the block of the storage of `inner`; by default, it is looked up or allocated.
    """
    if inner.layout is not torch.strided:
        return _wrap_sparse(inner, place)
    if block is None:
        block = the_machine().block_of(inner, place.index)
    # The wrapper has no memory, and C++ believes what this says: it answers for sizes, strides and offset, and
    # autograd takes the wrapper for a tensor of the device.
    dtype = inner.dtype
    # No other tensors are conjugated or negated when they are read.
    bits = None
    if dtype.is_complex or inner.is_neg():
        the_machine().has_complex, bits = True, _conj_and_neg_keys(inner)
    # By position, which is parsed faster; `_OPTIONS` says what the others are.
    sizes, strides, offset = inner.size(), inner.stride(), inner.storage_offset()
    made: Any = _make(
        PlainSimTensor, sizes, strides, offset, None, dtype, torch.strided, place.inner, *_OPTIONS, bits, _HUGE
    )
    made._inner = inner
    made._place = place
    made._block = block
    return made  # type: ignore[no-any-return]


def _wrap_sparse(inner: torch.Tensor, place: Device) -> SimTensor:
    if inner.dtype.is_complex:
        the_machine().has_complex = True
    made: Any = _make(PlainSimTensor, inner.size(), dtype=inner.dtype, device=place.inner, **wrapper_options(inner))
    made._inner, made._place = inner, place
    hold_blocks_of_parts(made)
    return made  # type: ignore[no-any-return]


def hold_blocks_of_parts(tensor: SimTensor) -> None:
    """Let a sparse tensor hold the blocks of its indices and values.

    Their memory stays allocated as long as the tensor exists.
    """
    # The block of the values stands for all; the others are kept as long.
    parts = parts_of(tensor._inner)
    *tensor._others, tensor._block = (the_machine().block_of(part, tensor._place.index) for part in parts)


_make = torch.Tensor._make_wrapper_subclass

_OPTIONS = (False, False, None, False, False)
"""The arguments `pin_memory`, `requires_grad` and three `dispatch_...`, before the dispatch keys and the storage."""


def _conj_and_neg_keys(inner: torch.Tensor) -> DispatchKeySet | None:
    """Return the dispatch keys of a tensor whose numbers are conjugated or negated when read.

    For a complex `x`, `x.conj()` is such a tensor: it shares the memory of `x`, and the key Conjugate tells PyTorch how
    to read it. Return None if the numbers are read as they are stored.

    Args:
        inner: a CPU tensor that is complex, or is negated when it is read.
    """
    conj, neg = inner.is_conj(), inner.is_neg()
    if not conj and not neg:
        return None
    return _CONJUGATE | _NEGATIVE if conj and neg else _CONJUGATE if conj else _NEGATIVE


def set_data(tensor: torch.Tensor, new: torch.Tensor) -> None:
    """Set `tensor.data` to a tensor of any device.

    `tensor` stays the same object.
    """
    ours = (isinstance(tensor, SimTensor)) + (isinstance(new, SimTensor))
    if ours == 1:
        # C++ refuses to change the kind of a tensor, so a new one is made and takes the place of the old.
        if isinstance(tensor, torch.nn.Parameter):
            grad = tensor.grad
            exchange_contents(tensor, other := parameter_like(tensor, new))
            # C++ would leave the gradient where it is, which Python must not. It comes along.
            if grad is not None and grad.shape == new.shape and grad.dtype == new.dtype:
                tensor.grad, other.grad = grad.detach().to(tensor.device), None
            if other.requires_grad and other.is_leaf:
                _hand_gradients_on(other, tensor)
        else:
            exchange_contents(tensor, new.detach().requires_grad_(tensor.requires_grad))
        return
    # Of one kind: C++ does it, and for a wrapper we do the same with what it holds.
    TensorBase.data.__set__(tensor, new)  # type: ignore[attr-defined]
    if ours:
        tensor._inner, tensor._place, tensor._block = new._inner, new._place, new._block  # type: ignore[attr-defined]


def _hand_gradients_on(old: torch.Tensor, parameter: torch.Tensor) -> None:
    """Hand the gradients of a tensor with a parameter's former contents on to the parameter.

    A graph that was made before `parameter.data` was moved to another device accumulates gradients into the former
    tensor in C++. When such a gradient arrives, and the parameter is back on that device, as FSDP does it before a
    backward, the gradient is added to `parameter.grad`.

    Args:
        old: the tensor that has the parameter's former contents.
        parameter: the parameter.
    """
    reference = weakref.ref(parameter)

    def hand_on(accumulated: torch.Tensor) -> None:
        now, grad = reference(), accumulated.grad
        if now is None or grad is None or now.device != grad.device or now.shape != grad.shape:
            return
        accumulated.grad = None
        now.grad = grad if now.grad is None else now.grad + grad
        hooks: Any = now._post_accumulate_grad_hooks
        for hook in tuple((hooks or {}).values()):
            hook(now)

    old.register_post_accumulate_grad_hook(hand_on)


def exchange_contents(tensor: torch.Tensor, other: torch.Tensor) -> None:
    """Exchange the memory, device and class of two tensors.

    `tensor` stays the same object, even in an autograd graph. `torch.utils.swap_tensors` refuses a tensor in a graph,
    or spoils the backward of that graph. The attributes and hooks that the program set on `tensor` stay on `tensor`.
    """
    kept = attributes_of_program(tensor)
    hooks = {name: given for name in _HOOKS if (given := getattr(tensor, name)) is not None}
    # The Python object stays: its class, its attributes and the tensor in C++ are exchanged for those of the other. A
    # graph that holds the C++ tensor goes on holding it.
    classes, attributes = (type(tensor), type(other)), (all_attributes(tensor), all_attributes(other))
    other.__class__, tensor.__class__ = classes
    set_all_attributes(other, attributes[0])
    set_all_attributes(tensor, attributes[1])
    torch._C._swap_tensor_impl(tensor, other)
    all_attributes(tensor).update(kept)
    for name, given in hooks.items():
        setattr(tensor, name, given)


def parameter_like(tensor: torch.Tensor, new: torch.Tensor) -> Any:
    """Return a parameter like `tensor`, with the numbers of `new`.

    It has the class and the `requires_grad` of `tensor`.

    Args:
        tensor: a parameter.
        new: the numbers, on the device or the CPU.
    """
    made: Any = torch.nn.Parameter(new, tensor.requires_grad)
    cls = getattr(type(tensor), "stands_for", type(tensor))
    if cls is not torch.nn.Parameter and issubclass(cls, torch.nn.Parameter):
        made.__class__ = class_on_device(cls) if isinstance(made, SimTensor) else cls
    return made


_HOOKS = ("_backward_hooks", "_post_accumulate_grad_hooks")


def refresh_metadata(tensor: SimTensor) -> None:
    """Set the metadata and the block of a tensor on the device to those of its inner tensor.

    This follows an operator that changed the inner tensor, such as `resize_`. The metadata are sizes, strides, offset
    and dtype, and the bits of a conjugated or negated view.
    """
    # `set_` gave it other memory, which may be known already.
    if tensor._inner.untyped_storage()._cdata != tensor._block.key:
        tensor._block = the_machine().block_of(tensor._inner, tensor._place.index)
    torch._C._set_conj(tensor, tensor._inner.is_conj())
    torch._C._set_neg(tensor, tensor._inner.is_neg())
    # This changes sizes, strides and dtype of a tensor at once; what autograd knows of it stays.
    TensorBase.data.__set__(tensor, wrap(tensor._inner, tensor._place, tensor._block))  # type: ignore[attr-defined]
