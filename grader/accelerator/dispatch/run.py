"""How an operator runs on a simulated device: on the CPU tensors inside, after the checks that a device makes.

An operator with a tensor of ours arrives at `run`; one that names the device without one, at `run_by_device`.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet

from grader.accelerator.core.custom_operators import key_of
from grader.accelerator.core.error_texts import in_cudas_words
from grader.accelerator.core.profiler import RECORDERS, inside
from grader.accelerator.core.tensor import SimParameter, SimTensor
from grader.accelerator.dispatch.capture import keep_before
from grader.accelerator.dispatch.cost import amount_of, find_room
from grader.accelerator.dispatch.devices import check_devices
from grader.accelerator.dispatch.dtypes import check_dtypes, check_kernel, driver_of
from grader.accelerator.dispatch.outputs import blocks_of, follow, shells_of
from grader.accelerator.dispatch.record import Dispatch, record
from grader.accelerator.dispatch.waits import reason_to_wait
from grader.accelerator.ops.attention import attend_whole
from grader.accelerator.ops.half_precision import in_single
from grader.accelerator.ops.overrides import SPECIAL, copy_between, one_hot
from grader.accelerator.schema.determinism import check_deterministic
from grader.accelerator.schema.facts import ATEN, Facts, facts_of, written_by
from grader.accelerator.sim.device_asserts import assertion_of, check_memory, of_no_meaning
from grader.accelerator.sim.generator import ALWAYS_DRAW, OWNERS, go_on_from, is_empty, numbers_of
from grader.accelerator.sim.machine import Device, Machine, the_machine

_FORMULAS = {"_thnn_fused_": "ops.recurrent", "batch_norm_": "ops.batch_norms"}
"""How the names of operators begin that have no kernel for the CPU: which module has formulas for them."""

# PyTorch keeps the sets of keys that are switched on or off for each thread; the guard sets both for a while.
_Keys: Any = torch._C._ForceDispatchKeyGuard
_included = torch._C._dispatch_tls_local_include_set
_excluded = torch._C._dispatch_tls_local_exclude_set
_CONJUGATES = (
    DispatchKeySet(DispatchKey.Conjugate)
    | DispatchKeySet(DispatchKey.Negative)
    | DispatchKeySet(DispatchKey.ZeroTensor)
)
_COMPOSITE = DispatchKeySet(DispatchKey.CompositeExplicitAutograd)


def run(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run an operator that was given a tensor of ours.

    Args:
        cls: the class of tensors, as PyTorch calls `__torch_dispatch__`.
        func: the operator.
        types: the classes of all tensors among the arguments.
        args: its arguments.
        kwargs: its arguments by name.
    """
    del cls
    # A class that is made of other tensors, as nested ones are, takes itself apart first.
    if len(types) > 1 and not all(issubclass(kind, SimTensor) for kind in types):
        return NotImplemented
    if RECORDERS:
        with inside():
            return _run(func, args, kwargs or {})
    return _run(func, args, kwargs or {})


def run_by_device(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Run an operator that was given the simulated device."""
    with inside() if RECORDERS else contextlib.nullcontext():
        return _run(func, args, kwargs)


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator with the keys for conjugates switched on.

    PyTorch comes here with these keys off. Operators that are made of others would then take conjugate views for plain
    ones, and give wrong numbers. What goes element by element on real numbers has no such views, and needs no keys.
    """
    facts = facts_of(func)
    if facts.pointwise and all(map(_is_plain, args)) and all(map(_is_plain, kwargs.values())):
        return _dispatch(facts, func, args, kwargs)
    with _Keys(_included(), _excluded() - _CONJUGATES):
        return _dispatch(facts, func, args, kwargs)


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is SimTensor or kind is SimParameter:
        return not (value.dtype.is_complex or value._inner.is_neg())
    return kind in _PLAIN


_PLAIN = {int, float, bool, str, type(None), torch.dtype}


def _dispatch(facts: Facts, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    machine = the_machine()
    done = _in_another_way(facts, machine, func, args, kwargs)
    if done is not NotImplemented:
        return done
    call = record(machine, facts, func, args, kwargs)
    if facts.name == "linalg_lstsq":
        call.named["driver"] = driver_of(call.named.get("driver"))
    _check(call)
    call.target = _target(call)
    if call.target is not None:
        find_room(call, call.target)
    if machine.capture is not None and call.device and (capture := machine.capturing(call.device.index)):
        keep_before(capture, call)
    # The numbers are made at once; only the clock pretends that the device gets to it later.
    failed = ""
    try:
        out = _compute(facts, func, call.inner, call.named, call.device)
    except (IndexError, RuntimeError) as error:
        if machine.kind != "cuda" or not call.shells:
            raise
        failed = assertion_of(facts, error)
        if not failed:
            raise in_cudas_words(error) from None
        out = of_no_meaning(facts, func, call.inner, call.named)
    given = _give(call, out)
    if failed:
        machine.fail(call.shells[0]._place.index, failed)
    # After the launch: the host waits for the work just given, too.
    if facts.may_wait and (reason := reason_to_wait(call)):
        machine.read_scalar(reason, call.shells[0]._place.index)
    return given


def _check(call: Dispatch) -> None:
    """Raise what a device raises before it starts a kernel."""
    facts, machine, shells = call.facts, call.machine, call.shells
    if facts.checked:
        check_kernel(call)
    if machine.shrunk and facts.works:
        check_memory(machine.kind, shells)
    if call.hosts or len(shells) > 1:
        check_devices(call)
        check_dtypes(call)
    if facts.alerts:
        check_deterministic(facts.alerts, facts.name, machine.kind, call.args, call.kwargs)


def _in_another_way(facts: Facts, machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Return what an operator returns that is not a kernel of the CPU on the tensors inside; else `NotImplemented`."""
    if (key := key_of(facts, func, machine.kind)) is not None:
        return func.redispatch(key, *args, **kwargs)
    if facts.namespace == "_c10d_functional":
        return func.redispatch(_COMPOSITE, *args, **kwargs)
    if facts.namespace == "c10d" and machine.kind == "cuda":
        done = importlib.import_module("grader.accelerator.cuda.nccl").collective(func, args, kwargs)
        if done is not NotImplemented:
            return done
    special = SPECIAL.get(facts.name)
    if special is not None and (facts.name != "linalg_matrix_rank" or "out" in kwargs):
        return special(func, args, kwargs)
    # In inference mode operators come here whole; their parts come one by one, and each is checked and counted.
    return func.decompose(*args, **kwargs) if facts.decomposes else NotImplemented


def _target(call: Dispatch) -> Device | None:
    """Return the device of the outcome: the one that the call names, None being the CPU, or that of the operands."""
    facts, machine, named = call.facts, call.machine, call.named
    if facts.has_device and named.get("device") is not None:
        if not machine.is_ours(named["device"]):
            return None
        target = machine.devices[machine.index_of(named["device"])]
        named["device"] = "cpu"
        return target
    if call.shells:
        return call.shells[0]._place
    return machine.device(machine.current) if facts.has_device else None


def _compute(facts: Facts, func: Any, inner: list[Any], named: dict[str, Any], place: Device | None) -> Any:
    """Run the operator on CPU tensors, drawing random numbers from the device's generator."""
    func = _kernel(func, facts.name)
    if facts.generator < 0:
        if not facts.seeded or place is None:
            return func(*inner, **named)
        return _with_numbers_of(place, func, inner, named)
    name = facts.names[facts.generator]
    given: Any = named.get(name)
    if given is None and len(inner) > facts.generator and name not in facts.keywords:
        given = inner[facts.generator]
    if place is not None and given is None:
        given = place.generator
    elif place is not None:
        # The operator gets another Python object for the same generator, so its address tells whose it is. One of the
        # CPU must not draw for the device.
        owner = OWNERS.get(given._cdata)
        if owner is None and not _draws_nothing(facts, func, inner, named):
            kind = place.public.type
            raise RuntimeError(f"Expected a '{kind}' device type for generator but found '{given.device}'")
    if name in facts.keywords or len(inner) <= facts.generator:
        named[name] = given
    else:
        inner[facts.generator] = given
    return func(*inner, **named)


@functools.cache
def _kernel(func: Any, name: str) -> Any:
    """Return the function that computes an operator on CPU tensors: the operator, unless it has a formula."""
    for start, module in _FORMULAS.items():
        if name.startswith(start):
            return importlib.import_module(f"grader.accelerator.{module}").KERNELS.get(name, func)
    return in_single(func, name)


def _draws_nothing(facts: Facts, func: Any, inner: list[Any], named: dict[str, Any]) -> bool:
    """Return whether an operator makes or fills an empty tensor; then PyTorch looks at no generator."""
    if facts.name == "randperm":
        return bool(inner[0] == 0)  # it comes with an `out`, which is empty before it has its size
    return facts.name not in ALWAYS_DRAW and is_empty(func, inner, named)


def _with_numbers_of(place: Device, func: Any, inner: list[Any], named: dict[str, Any]) -> Any:
    # These operators take no generator and draw from the CPU's default one. It is lent the state of the device's, so
    # that the device draws from its own and leaves the CPU's as it was.
    default = torch.default_generator
    before = default.get_state()
    default.set_state(numbers_of(place.generator))
    try:
        return func(*inner, **named)
    finally:
        # In this order: who gives both one stream wants it to go on.
        after = default.get_state()
        default.set_state(before)
        go_on_from(place.generator, after)


def _give(call: Dispatch, out: Any) -> Any:
    """Count the work, and put the tensors that came out into shells."""
    facts, machine, shells, fresh = call.facts, call.machine, call.shells, call.fresh
    given = shells_of(call, out)
    # An operator that gave no new memory and wrote to none only looked at it, as `_unsafe_view` does.
    launches = facts.works and (fresh or facts.writes or not isinstance(out, torch.Tensor))
    if launches or facts.syncs_for:
        _use(call, given)
    place: Any = call.device
    if launches:
        flops, nbytes = amount_of(call, out)
        machine.launch(facts.name, place, flops, nbytes, [shell._inner.shape for shell in shells])
        if machine.capture is not None and (capture := machine.capturing(place.index)):
            again = functools.partial(_compute, facts, call.func, [*call.inner], {**call.named}, place)
            capture.step(again, out, fresh)
    elif fresh and machine.capture is not None and (capture := machine.capturing(place.index)):
        capture.made(fresh)
    if facts.writes:
        for shell in shells:
            follow(shell)
    return given


def _use(call: Dispatch, given: Any) -> None:
    """Tell what memory is read, and what is written to."""
    facts, shells = call.facts, call.shells
    place: Any = call.device
    # By number: an optimizer's operator is given all parameters at once, and to compare each with each would tell.
    into = {id(value) for value in written_by(facts, call.inner, call.named)} if facts.writes else ()
    written = [shell._block for shell in shells if id(shell._inner) in into] if into else []
    reads = [] if facts.shapes_only else [shell._block for shell in shells if id(shell._inner) not in into]
    call.machine.use(place, facts.name, reads, written + blocks_of(given) if call.fresh else written)


def _overload(name: str) -> Any:
    packet, _, overload = name.partition(".")
    return getattr(getattr(ATEN, packet), overload or "default")


_REGISTERED: dict[str, Any] = {
    name: _overload(name)
    for name in (
        *("empty.memory_format", "empty_strided", "tril_indices", "triu_indices", "from_file", "_efficientzerotensor"),
        # These are one kernel on a CPU and on a GPU, and a formula on other devices, which rounds otherwise.
        *("silu_backward", "mish_backward"),
        *("linalg_matrix_rank.out", "linalg_matrix_rank.out_tol_tensor"),
        *("linalg_matrix_rank.atol_rtol_tensor_out", "linalg_matrix_rank.atol_rtol_float_out"),
    )
}
"""Operators that are not made of others and come without a tensor of ours, or would not come here by themselves."""


@functools.cache
def register() -> tuple[Any, ...]:
    """Register the kernels that PyTorch looks for by device; once, and they stay as long as what is given back."""
    # What is given a tensor of ours comes to `run` by itself; `_REGISTERED` says what does not.
    library = torch.library.Library("aten", "IMPL")
    # This operator returns the layout of sparse tensors with compressed rows. C++ names it, and does not define it.
    layout = torch._C._dispatch_library("FRAGMENT", "prim", "")
    layout.define("layout(Tensor a) -> int", "")
    for name, func in _REGISTERED.items():
        library.impl(name, functools.partial(run_by_device, func), "PrivateUse1")
    # Sparse tensors have a key of their own.
    empty = _overload("empty.memory_format")
    library.impl("empty.memory_format", functools.partial(run_by_device, empty), "SparsePrivateUse1")
    library.impl("_copy_from", _copy_from, "PrivateUse1")
    library.impl("scaled_dot_product_attention", attend_whole, "AutogradPrivateUse1")
    library.impl("one_hot", one_hot, "AutogradPrivateUse1")
    return library, layout


def _copy_from(source: torch.Tensor, to: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Copy: PyTorch calls this where it makes a tensor of Python numbers, with `__torch_dispatch__` switched off."""
    return copy_between(ATEN.copy_.default, (to, source, non_blocking), {})  # type: ignore[no-any-return]


# Set from here: the class cannot import what runs its operators, which needs the class.
SimTensor.__torch_dispatch__ = classmethod(run)  # type: ignore[assignment]
