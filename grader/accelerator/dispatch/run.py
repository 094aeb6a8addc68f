"""How an operator runs on a simulated device: on the CPU tensors inside, after the checks that a device makes.

An operator with a tensor of the device arrives at `run`; one that names the device without one, at `run_by_device`.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch._C import DispatchKey, DispatchKeySet

from grader.accelerator.core.custom_operators import REGISTERED, dispatch_key_of
from grader.accelerator.core.error_texts import as_cuda_error
from grader.accelerator.core.profiler import RECORDERS, operator_region
from grader.accelerator.core.tensor import PlainSimTensor, SimParameter, SimTensor, wrap
from grader.accelerator.dispatch.bindings import binding_of, takes_names
from grader.accelerator.dispatch.capture import prepare_for_capture
from grader.accelerator.dispatch.cost import check_room, flops_and_bytes
from grader.accelerator.dispatch.devices import are_on_one_device, check_devices, run_foreach_one_by_one
from grader.accelerator.dispatch.dtypes import check_dtypes, check_kernel, compares_dtypes, use_gels_driver
from grader.accelerator.dispatch.outputs import update_changed_metadata, wrap_outputs
from grader.accelerator.dispatch.record import Dispatch, is_real
from grader.accelerator.dispatch.waits import reason_to_wait
from grader.accelerator.ops.attention import attend_whole
from grader.accelerator.ops.half_precision import compute_in_float32
from grader.accelerator.ops.overrides import copy_between, one_hot, override_of
from grader.accelerator.schema.determinism import check_deterministic
from grader.accelerator.schema.facts import ATEN, OperatorFacts, facts_of, written_by
from grader.accelerator.sim.device_asserts import assertion_text, check_storage_bounds, placeholder_output
from grader.accelerator.sim.generator import ALWAYS_DRAW, OWNERS, cpu_state_of, makes_empty_tensor, set_cpu_state
from grader.accelerator.sim.machine import Device, Machine, the_machine
from grader.accelerator.sim.races import Block

_FORMULAS = {
    "_thnn_fused_": "ops.recurrent",
    "batch_norm_": "ops.batch_norms",
    "histc": "ops.integers",
    **dict.fromkeys(
        ("_flash_attention_", "_cudnn_attention_", "_scaled_dot_product_flash_attention"), "ops.flash_attention"
    ),
}
"""How the names of operators begin that have no kernel for the CPU, or for fewer dtypes: the module with formulas."""

_OF_CPU = ("_for_cpu", "_for_cpu_backward")
"""How the names of operators end that the CPU has in the place of CUDA's of the same facts."""

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


@dataclass(frozen=True, slots=True)
class _RunPlan:
    """How an operator runs, decided at its first call.

    Attributes:
        func: the operator.
        facts: the facts of the operator.
        kernel: the text with which PyTorch records a kernel for CUDA that the program registers in Python; "" in kind
            sim.
        compute: the function that computes it on CPU tensors.
        compute_by_position: the same for a call without arguments by name; it may be a faster one.
        is_direct: True if a CPU kernel runs on the inner tensors, unless the program has a kernel of its own.
        looks: True if its result is a view, and its first argument the only tensor.
        draws: True if it draws random numbers.
        is_checked: True if its operands are checked even if all tensors are on one device.
        has_dtypes: True if a GPU refuses operands of two dtypes that the CPU's kernel takes.
        takes_lists: True if it does the same to each tensor of a list, and these may be on several devices.
    """

    func: Any
    facts: OperatorFacts
    kernel: str
    compute: Callable[..., Any]
    compute_by_position: Callable[..., Any]
    is_direct: bool
    looks: bool
    draws: bool
    is_checked: bool
    has_dtypes: bool
    takes_lists: bool


_plans: dict[int, _RunPlan] = {}
"""By the operator's address, which is its own as long as the plan holds the operator; its hash takes Python code."""


def _plan_of(func: Any) -> _RunPlan:
    facts = facts_of(func)
    direct = facts.namespace == "aten" and override_of(facts) is None and not facts.decomposes
    compute = by_position = _cpu_kernel(func, facts.name)
    if compute is func:
        compute = getattr(func, "_op", func)  # what its `__call__` calls
        by_position = binding_of(func) or compute
        compute = by_position if takes_names(func) else compute
    has_dtypes = compares_dtypes(facts)
    _plans[id(func)] = plan = _RunPlan(
        func=func,
        facts=facts,
        kernel=facts.kernels["CUDA"] if the_machine().kind == "cuda" else "",
        compute=compute,
        compute_by_position=by_position,
        is_direct=direct,
        looks=direct and _returns_view_of_first(func),
        draws=facts.generator >= 0 or facts.seeded,
        is_checked=facts.checked or bool(facts.alerts) or has_dtypes,
        has_dtypes=has_dtypes,
        takes_lists=facts.name.startswith("_foreach_"),
    )
    return plan


def _returns_view_of_first(func: Any) -> bool:
    """Return whether an operator returns a view of its first argument, its only tensor.

    It is True for `transpose`, and False for `split`, which returns several views, and for `add`.
    """
    arguments, returns = ([str(one.type) for one in part] for part in (func._schema.arguments, func._schema.returns))
    others = [one for one in arguments[1:] if "Tensor" in one]
    return func.is_view and arguments[:1] == returns == ["Tensor"] and not others


def run(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run an operator that has a tensor of the device among its arguments.

    This is the `__torch_dispatch__` of `SimTensor`.

    Args:
        cls: the class of tensors, as PyTorch calls `__torch_dispatch__`.
        func: the operator.
        types: the classes of all tensors among the arguments.
        args: its arguments.
        kwargs: its arguments by name.
    """
    del cls
    for kind in types:
        if kind is not PlainSimTensor and kind is not SimParameter:
            # A class that is made of other tensors, as nested ones are, takes itself apart first.
            if not all(issubclass(one, SimTensor) for one in types):
                return NotImplemented
            # Calls of functions from here on are ours, and the program's class does not see them.
            with torch._C.DisableTorchFunctionSubclass():
                return _run_with_keys(func, args, kwargs or {})
    if RECORDERS:
        with operator_region():
            return _run_with_keys(func, args, kwargs or {})
    return _run_with_keys(func, args, kwargs or {})


def run_by_device(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Run an operator that gets the device by name, such as `torch.zeros(3, device="cuda")`.

    PyTorch calls `run` for an operator that has a tensor of the simulated device among its arguments. It calls this
    function for an operator that has none.

    Args:
        func: the operator.
        *args: its arguments.
        **kwargs: its arguments by name, such as the device.
    """
    if RECORDERS:
        with operator_region():
            return _run_with_keys(func, args, kwargs)
    return _run_with_keys(func, args, kwargs)


def _run_with_keys(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator with the dispatch keys Conjugate, Negative and ZeroTensor switched on.

    PyTorch calls `__torch_dispatch__` with these keys off. An operator that is made of others would then treat
    conjugate views as ordinary tensors, and return wrong numbers. An operator on real numbers has no such views, and
    skips this.
    """
    plan = _plans.get(id(func)) or _plan_of(func)
    machine, facts = the_machine(), plan.facts
    if plan.is_direct and plan.kernel not in REGISTERED:
        if plan.looks and not kwargs and (done := _run_view(plan, machine, args)) is not NotImplemented:
            return done
        call = Dispatch(machine, facts, func, args, kwargs)
        if call.real and facts.stays_real:
            return _dispatch(call, plan)
        with _Keys(_included(), _excluded() - _CONJUGATES):
            return _dispatch(call, plan)
    with _Keys(_included(), _excluded() - _CONJUGATES):
        done = _run_override(facts, machine, func, args, kwargs)
        if done is not NotImplemented:
            return done
        return _dispatch(Dispatch(machine, facts, func, args, kwargs), plan)


def _run_view(plan: _RunPlan, machine: Machine, args: Any) -> Any:
    """Run an operator that returns a view, such as `x.t()`, in a short way: it has no kernel.

    Returns:
        The view. NotImplemented if the short way does not suffice, as for a complex tensor, or if it raises an error:
        then the operator runs as all others do.
    """
    shell = args[0]
    inner = shell._inner
    if machine.capture is not None or inner.layout is not torch.strided or (machine.has_complex and not is_real(inner)):
        return NotImplemented
    if torch.is_inference_mode_enabled() and not shell.is_inference():
        return NotImplemented
    try:
        out = plan.compute_by_position(inner, *args[1:])
    except (IndexError, RuntimeError):
        return NotImplemented
    if machine.here.switch_streams is not None:
        machine.here.switch_streams()  # a node that hands on its gradient looks at it only
    return shell if out is inner else wrap(out, shell._place, shell._block)


def _dispatch(call: Dispatch, plan: _RunPlan) -> Any:
    """Compute an operator on the inner tensors, and wrap its results.

    The operands are checked first. At the end, the kernel and the waits of the host are counted.
    """
    machine, facts, shells = call.machine, call.facts, call.shells
    if call.hosts or plan.is_checked or machine.shrunk or (len(shells) > 1 and not are_on_one_device(shells)):
        if (done := _run_across_devices(call, plan)) is not NotImplemented:
            return done
        _check_operands(call, plan)
    place = shells[0]._place if shells else None
    call.target = target = _target_device(call) if facts.has_device else place
    call.device = target or place
    if facts.grows and target is not None and (len(shells) != 1 or facts.grows != "broadcast"):
        check_room(call, target)
    if machine.capture is not None and call.device and (capture := machine.capture_on(call.device.index)):
        prepare_for_capture(capture, call)
    # The numbers are made at once; only the clock pretends that the device gets to it later.
    failed = ""
    try:
        if plan.draws:
            out = _compute_random(plan, call.inner, call.named, call.device)
        elif not call.named:
            out = plan.compute_by_position(*call.inner)
        else:
            out = plan.compute(*call.inner, **call.named)
    except (IndexError, RuntimeError) as error:
        if machine.kind != "cuda" or not shells:
            raise
        failed = assertion_text(facts, error)
        if not failed:
            raise as_cuda_error(error) from None
        out = placeholder_output(facts, call.func, call.inner, call.named)
    given = _wrap_and_count(call, plan, out)
    if failed:
        machine.record_device_assert(shells[0]._place.index, failed)
    # After the launch: the host waits for the work just given, too.
    if facts.may_wait and (reason := reason_to_wait(call)):
        machine.read_scalar(reason, shells[0]._place.index)
    return given


def _run_across_devices(call: Dispatch, plan: _RunPlan) -> Any:
    """Run an operator that may have operands on several devices, or return `NotImplemented`.

    It is an operator on lists, or `fill_` with a number on another device, which the host reads (`fill_out` of
    Fill.cpp).
    """
    args, shells = call.args, call.shells
    if call.facts.name == "fill_" and shells[-1] is not args[0] and shells[-1].device != args[0].device:
        return args[0].fill_(shells[-1].item())
    return run_foreach_one_by_one(call) if plan.takes_lists else NotImplemented


def _check_operands(call: Dispatch, plan: _RunPlan) -> None:
    """Raise the error that a GPU raises before it starts a kernel.

    The error concerns dtypes, devices, memory or determinism.
    """
    facts, machine, shells = call.facts, call.machine, call.shells
    if facts.checked:
        check_kernel(call)
    if machine.shrunk and facts.works:
        check_storage_bounds(machine.kind, shells)
    if call.hosts or len(shells) > 1:
        check_devices(call)
        if plan.has_dtypes:
            check_dtypes(call)
    if facts.alerts:
        check_deterministic(facts.alerts, facts.name, machine.kind, call.args, call.kwargs)


def _run_override(facts: OperatorFacts, machine: Machine, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run an operator by its override, if it has one.

    An override is a kernel that the program registered, a collective, a function of `OVERRIDES`, or the operator's
    decomposition.

    Returns:
        What the operator returns; `NotImplemented` without an override: then a CPU kernel computes it on inner tensors.
    """
    if (key := dispatch_key_of(facts, func, machine.kind)) is not None:
        return func.redispatch(key, *args, **kwargs)
    if facts.namespace == "_c10d_functional":
        if machine.kind == "cuda":
            run_functional = importlib.import_module("grader.accelerator.cuda.nccl").run_functional
            return run_functional(func, _COMPOSITE, args, kwargs)
        return func.redispatch(_COMPOSITE, *args, **kwargs)
    if facts.namespace == "c10d" and machine.kind == "cuda":
        done = importlib.import_module("grader.accelerator.cuda.nccl").run_collective(func, args, kwargs)
        if done is not NotImplemented:
            return done
    override = override_of(facts)
    if override is not None and (done := override(func, args, kwargs)) is not NotImplemented:
        return done
    # In inference mode operators come here whole; their parts come one by one, and each is checked and counted.
    return func.decompose(*args, **kwargs) if facts.decomposes else NotImplemented


def _target_device(call: Dispatch) -> Device | None:
    """Return the device of the result of a call.

    It is the call's `device`, else the device of the first operand, else the current device. It is None if the call's
    `device` is not a simulated one. A simulated `device` becomes "cpu" in `call.named`, because the operator runs on
    the inner tensors.
    """
    machine, named = call.machine, call.named
    if named.get("device") is not None:
        if not machine.is_simulated(named["device"]):
            return None
        target = machine.devices[machine.index_of(named["device"])]
        named["device"] = "cpu"
        return target
    if call.shells:
        return call.shells[0]._place
    return machine.device(machine.current)


def _compute_random(plan: _RunPlan, inner: list[Any], named: dict[str, Any], place: Device | None) -> Any:
    """Run an operator that draws random numbers, with the device's generator.

    The operator runs on inner CPU tensors.

    Args:
        plan: the plan of the operator.
        inner: its positional arguments, with inner CPU tensors in place of those of the device.
        named: its arguments by name, in the same way.
        place: the simulated device of the result; None for a result on another device, such as the CPU.

    Raises:
        RuntimeError: the program gave a generator of the CPU for a result on the device.
    """
    facts, func = plan.facts, plan.compute
    if facts.generator < 0:
        draws = place is not None and _may_draw(facts, inner, named)
        return _run_with_cpu_state_of(place, func, inner, named) if draws else func(*inner, **named)
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
        if owner is None and not _has_empty_result(facts, func, inner, named):
            kind = place.public.type
            raise RuntimeError(f"Expected a '{kind}' device type for generator but found '{given.device}'")
    if name in facts.keywords or len(inner) <= facts.generator:
        named[name] = given
    else:
        inner[facts.generator] = given
    return func(*inner, **named)


def _cpu_kernel(func: Any, name: str) -> Any:
    """Return the function that computes an operator on CPU tensors.

    It is the operator itself, or a replacement. A replacement is a formula in `ops`, as for `_thnn_fused_lstm_cell`,
    the LAPACK driver of CUDA, or a computation in float32.

    Args:
        func: the operator.
        name: the name of the operator.
    """
    for start, module in _FORMULAS.items():
        if name.startswith(start) and not func.name().endswith(_OF_CPU):
            return importlib.import_module(f"grader.accelerator.{module}").KERNELS.get(name, func)
    return use_gels_driver(func) if name == "linalg_lstsq" else compute_in_float32(func, name)


def _has_empty_result(facts: OperatorFacts, func: Any, inner: list[Any], named: dict[str, Any]) -> bool:
    """Return True if the result of a random operator has no elements.

    PyTorch does not check the generator then.
    """
    if facts.name == "randperm":
        return bool(inner[0] == 0)  # it comes with an `out`, which is empty before it has its size
    return facts.name not in ALWAYS_DRAW and makes_empty_tensor(func, inner, named)


def _may_draw(facts: OperatorFacts, inner: list[Any], named: dict[str, Any]) -> bool:
    """Return whether an operator may draw random numbers; False for attention without dropout."""
    if "dropout_p" not in facts.names:
        return True
    at = facts.names.index("dropout_p")
    return bool(inner[at] if len(inner) > at else named.get("dropout_p", 0.0))


def _run_with_cpu_state_of(place: Any, func: Any, inner: list[Any], named: dict[str, Any]) -> Any:
    # These operators take no generator and draw from the CPU's default one. It is lent the state of the device's, so
    # that the device draws from its own and leaves the CPU's as it was.
    default = torch.default_generator
    before = default.get_state()
    default.set_state(cpu_state_of(place.generator))
    try:
        return func(*inner, **named)
    finally:
        # In this order: who gives both one stream wants it to go on.
        after = default.get_state()
        default.set_state(before)
        set_cpu_state(place.generator, after)


def _wrap_and_count(call: Dispatch, plan: _RunPlan, out: Any) -> Any:
    """Return the result of an operator as tensors of the device.

    The launch, the memory and the time of the operator are counted.
    """
    facts, machine, shells, fresh = call.facts, call.machine, call.shells, call.fresh
    given = wrap_outputs(call, out)
    # An operator that gave no new memory and wrote to none only looked at it, as `_unsafe_view` does.
    launches = facts.works and (fresh or facts.writes or not isinstance(out, torch.Tensor))
    if launches or facts.syncs_for:
        _record_accesses(call)
    elif machine.here.switch_streams is not None:
        machine.here.switch_streams()  # a node that hands on its gradient looks at it only
    if facts.writes:
        if plan.takes_lists:
            # Autograd learns of a change in place on the way here, but not of one to the tensors of a list: the kernels
            # of CUDA tell it themselves (`increment_version` in ForeachBinaryOpScalar.cu and its like).
            torch._C._increment_version(written_by(facts, call.args, call.kwargs))
        for shell in shells:
            # What was written to may have other sizes by now, as after `out=` or `t_`; the shell must say so, too.
            if facts.resizes or shell._inner.layout is not torch.strided:
                update_changed_metadata(shell)
    place: Any = call.device
    capture = machine.capture_on(place.index) if machine.capture is not None and place is not None else None
    if launches:
        flops, nbytes = flops_and_bytes(call, out)
        # Nobody sees the shapes of work whose span is not kept.
        shown = machine.clock.needs_spans() or capture is not None
        shapes = [shell._inner.shape for shell in shells] if shown else ()
        machine.launch(facts.name, place, flops, nbytes, shapes)
    if capture is not None:
        made = [shell._inner for shell in fresh]
        if launches:
            run_again = functools.partial(_run_again, plan, [*call.inner], {**call.named}, place)
            capture.record_operator(run_again, out, made)
        elif made:
            capture.record_new_memory(made)
    return given


def _run_again(plan: _RunPlan, inner: list[Any], named: dict[str, Any], place: Device) -> Any:
    """Run a captured operator again on the same inner tensors, when its graph is replayed."""
    return _compute_random(plan, inner, named, place) if plan.draws else plan.compute(*inner, **named)


_CALLERS = 5
"""From `run` to `_record_accesses`; the functions that search for the program's line need not look at these."""


def _record_accesses(call: Dispatch) -> None:
    """Record the blocks of memory that an operator reads, and those that it writes to.

    The race detector compares them with those of earlier work.
    """
    facts, shells = call.facts, call.shells
    place: Any = call.device
    # Loops, not comprehensions, which are calls of functions: most operators have one or two tensors.
    written: list[Block] = []
    reads: list[Block] = []
    if facts.writes:
        call.written = written_by(facts, call.inner, call.named)
        # By number: an optimizer's operator is given all parameters at once, and to compare each with each would tell.
        into = set(map(id, call.written))
        for shell in shells:
            (written if id(shell._inner) in into else reads).append(shell._block)
    else:
        for shell in shells:
            reads.append(shell._block)
    for shell in call.fresh:
        written.append(shell._block)
    call.machine.record_use(place, facts.name, [] if facts.shapes_only else reads, written, _CALLERS)


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
    """Register kernels of operators that PyTorch does not pass to `run`, such as `empty`.

    The libraries that keep them registered are returned.
    """
    # What is given a tensor of ours comes to `run` by itself; `_REGISTERED` says what does not.
    library = torch.library.Library("aten", "IMPL")
    # This operator returns the layout of sparse tensors with compressed rows. C++ names it, and does not define it.
    layout = torch._C._dispatch_library("FRAGMENT", "prim", "")
    layout.define("layout(Tensor a) -> int", "")
    for name, func in _REGISTERED.items():
        library.impl(name, functools.partial(run_by_device, func), "PrivateUse1")
    for name in ("empty.memory_format", "_sparse_coo_tensor_with_dims"):  # sparse tensors have a key of their own
        library.impl(name, functools.partial(run_by_device, _overload(name)), "SparsePrivateUse1")
    library.impl("_copy_from", _copy_from, "PrivateUse1")
    library.impl("scaled_dot_product_attention", attend_whole, "AutogradPrivateUse1")
    library.impl("one_hot", one_hot, "AutogradPrivateUse1")
    return library, layout


def _copy_from(source: torch.Tensor, to: torch.Tensor, non_blocking: bool = False) -> torch.Tensor:
    """Copy `source` into `to`, which is on another device.

    This is the kernel of `_copy_from`, which `torch.tensor` calls.
    """
    return copy_between(ATEN.copy_.default, (to, source, non_blocking), {})  # type: ignore[no-any-return]


# Set from here: the class cannot import what runs its operators, which needs the class.
SimTensor.__torch_dispatch__ = classmethod(run)  # type: ignore[assignment]
