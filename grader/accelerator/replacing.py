"""Replaces functions and classes of PyTorch's: the new one keeps names, attributes and documentation of the old."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch.overrides import handle_torch_function, has_torch_function

from grader.accelerator.refusals import refusal, refusing_function


class TensorAttribute(property):
    """A property that replaces an attribute of `torch.Tensor` that C++ defines."""

    # PyTorch's compiler reads both of each attribute when it is imported.
    __objclass__ = torch._C.TensorBase
    __name__: str


def put(owner: Any, name: str, new: Any) -> None:
    """Replace an attribute of one of PyTorch's modules or classes.

    After `put(torch, "rand", new)`, programs that call `torch.rand` call `new`.

    A new function gets the name, module, documentation and attributes of the original, and has the original as
    `__wrapped__`: PyTorch's compiler, decorators and `inspect.signature` read these. Only a class may replace a class,
    so that annotations, `except` and `isinstance` still work. An operator of TorchScript stays one. In the place of a
    function or method of C++'s, the new one passes itself to `__torch_function__`, as the original does.

    Args:
        owner: a module or a class.
        name: the attribute; it need not exist.
        new: the value or function that takes its place.

    Raises:
        TypeError: a function would take the place of a class.
    """
    if isinstance(new, TensorAttribute):
        new.__name__ = name
    original = inspect.getattr_static(owner, name, None)
    if original is None:
        original = getattr(owner, name, None)  # `torch._VF` looks its functions up elsewhere
    # Without this, TorchScript would try to compile our Python function in the place of an operator that it knows.
    operator = torch.jit._builtins._find_builtin(original)
    setattr(owner, name, _wrap_for_torch_function(owner, original, _wrap_like(original, new)))
    if operator is not None:
        torch.jit._builtins._register_builtin(getattr(owner, name), operator)


def refusing_class(original: type, why: str) -> type:
    """Return a subclass of `original` whose constructor raises `NotImplementedError`.

    The message of the error is `why`.
    """

    def refuse(cls: type, *args: Any, **kwargs: Any) -> Any:
        del cls, args, kwargs
        raise refusal(why)

    names = ("__module__", "__qualname__", "__doc__")
    return type(original.__name__, (original,), {"__new__": refuse} | {name: getattr(original, name) for name in names})


def _wrap_like(original: Any, new: Any) -> Any:
    """Return `new` with the names, attributes and documentation of `original`.

    If `original` is a class and `new` is not, raise `TypeError`.
    """
    if isinstance(new, staticmethod):
        return staticmethod(_wrap_like(getattr(original, "__func__", original), new.__func__))
    if isinstance(original, type):
        if not isinstance(new, type):
            raise TypeError(f"{original.__name__} is a class, and what takes its place is not")
        _refuse_missing_names(original, new)
        return new
    if not callable(original) or not callable(new) or isinstance(new, type) or original is new:
        return new
    # One function may replace several; each is a function of its own, as the originals are.
    if not isinstance(new, types.FunctionType) or "__wrapped__" in vars(new):
        if original in _wrapped_functions(new):
            return new
        new = forwarding_function(new)
    return functools.update_wrapper(new, original)


def _wrap_for_torch_function(owner: Any, original: Any, new: Any) -> Any:
    """Let tensor subclasses and modes see a call of `new` in their `__torch_function__`.

    For example, a program logs each call by a mode's `__torch_function__`. If `new` replaces `torch.zeros_like`, the
    mode still gets the function `torch.zeros_like` and the arguments as the program wrote them, such as
    `device="cuda"`.

    Args:
        owner: the module or class whose function is replaced, such as `torch`.
        original: the function of PyTorch.
        new: the function that replaces it.

    Returns:
        A wrapper of `new`; or `new` itself if the original does not call `__torch_function__`.
    """
    of_c = inspect.unwrap(original) if isinstance(original, types.FunctionType) else original
    # A wrapper of such a function has its attributes, so the attribute names the function that has it first.
    if not isinstance(new, types.FunctionType) or vars(new).get("follows_torch_function") is new:
        return new
    if isinstance(of_c, types.MethodDescriptorType) and owner is torch.Tensor and of_c.__name__ not in _METHODS_WITHOUT:
        # Of the others it is data, which may be anything.
        count = 1 if of_c.__name__ == "new_tensor" else None
    elif isinstance(of_c, types.BuiltinFunctionType) and (prefix := _operator_namespace(owner, of_c)) is not None:
        count = None if _takes_tensors(prefix + of_c.__name__) else 0
    else:
        return new

    def follow(*args: Any, **kwargs: Any) -> Any:
        given: tuple[Any, ...] = ()
        if count != 0:
            given = (*args, *kwargs.values())[:count] if kwargs else args[:count]
            for one in given:
                if isinstance(one, (list, tuple)):
                    given = (*given, *one)
        # In a mode this is True, except of an empty tuple.
        if has_torch_function(given or _NO_TENSORS):
            return handle_torch_function(follow, given, *args, **kwargs)
        return new(*args, **kwargs)

    functools.update_wrapper(follow, new)
    vars(follow)["follows_torch_function"] = follow
    return follow


_NO_TENSORS = (None,)

_METHODS_WITHOUT = ("as_subclass", "set_")
"""Methods for which C++ does not look for overrides."""


def _operator_namespace(owner: Any, function: Any) -> str | None:
    """Return "aten::" if a C++ function passes its arguments to `__torch_function__`.

    This is the namespace of the operator that it calls, such as `aten::add` for `torch.add`. It is None for any other
    function, and for other modules than `torch`, `torch.nn.functional`, `torch.fft` and `torch.linalg`.

    Args:
        owner: the module that has the function.
        function: the builtin function of C++.
    """
    if owner in (torch, torch.nn.functional):
        return "aten::" if getattr(torch._C._VariableFunctions, function.__name__, None) is function else None
    return {torch.fft: "aten::", torch.linalg: "aten::"}.get(owner)


def _takes_tensors(operator: str) -> bool:
    """Return whether an operator takes tensors in which C++ looks for `__torch_function__`.

    It is True for "aten::zeros_like", and False for "aten::zeros". One overload that takes them is enough. Indices and
    values of sparse tensors are data, as those of `torch.tensor` are.
    """
    if operator.startswith("aten::sparse_") or operator in ("aten::tensor", "aten::as_tensor", "aten::asarray"):
        return False
    schemas = torch._C._jit_get_schemas_for_operator(operator)
    return any("Tensor" in str(arg.type) and not arg.is_out for schema in schemas for arg in schema.arguments)


class _MissingName:
    """An attribute that a class of ours has, as PyTorch's does, and that raises `NotImplementedError` of its objects.

    It is not a data descriptor, so that an object may have the attribute of its own.
    """

    def __init__(self, why: str) -> None:
        self.why = why

    def __get__(self, one: Any, kind: type | None = None) -> Any:
        if one is None:
            return self
        raise refusal(self.why)


_PROTOCOLS = ("_as_parameter_", "__cuda_stream__")
"""Names by which ctypes and CUDA's own libraries read the driver's handle of a stream."""


_METHODS_OF_BUILDS_FOR_CUDA = {
    "CUDAGraph": (
        *("begin_capture_to_if_node", "begin_capture_to_while_node", "end_capture_to_conditional_node"),
        *("get_currently_capturing_graph", "set_conditional_handle_for_current_node"),
    ),
}

_VALUES_OF_BUILDS_FOR_CUDA = {
    "Event": ("_as_parameter_", "cuda_event", "device", "event_id"),
    "Stream": ("_as_parameter_", "device", "device_index", "priority", "stream_id"),
}
"""Names that C++ adds to a class in builds for CUDA, by class; in a build for the CPU the original lacks them."""


def _refuse_missing_names(original: type, new: Any) -> None:
    """Add the public names of `original` that the class `new` lacks, to refuse them.

    A use of such a name raises `NotImplementedError`, not `AttributeError`. Names that `original` has only in builds
    for CUDA are added, too.
    """
    kind = original.__name__
    methods, values = _METHODS_OF_BUILDS_FOR_CUDA.get(kind, ()), _VALUES_OF_BUILDS_FOR_CUDA.get(kind, ())
    for name in {*dir(original), *methods, *values} - set(dir(new)):
        if name.startswith("_") and name not in _PROTOCOLS:
            continue
        why = f"{original.__module__}.{original.__qualname__}.{name} is not supported on the simulated device"
        is_method = name in methods or callable(getattr(original, name, None))
        setattr(new, name, refusing_function(why) if is_method else _MissingName(why))


def _wrapped_functions(function: Any) -> Iterator[Any]:
    while (function := getattr(function, "__wrapped__", None)) is not None:
        yield function


def forwarding_function(function: Any) -> Any:
    """Return a new function that calls `function` with the same arguments.

    So one function of ours can replace several of PyTorch's, each with a name of its own.
    """

    def forward(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return forward
