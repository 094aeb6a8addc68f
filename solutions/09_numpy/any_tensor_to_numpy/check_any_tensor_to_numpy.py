import numpy as np
import torch

from grader.check import (
    assert_array,
    assert_close,
    assert_costs_at_most,
    assert_does_not_mutate,
    assert_dtype,
    assert_no_warnings,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_unchanged,
    assert_values,
    assert_writes_show,
    check,
    edge_cases,
    shares_memory,
)

KINDS = "t = torch.ones(2, requires_grad=True) * (1 + 2j); to_numpy(t), to_numpy(t.conj()), to_numpy(t.conj().imag)"
THERE = "to_numpy(t) for a t of bfloat16 on the GPU that requires a gradient: what is copied, and how often?"
DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
DTYPES += [torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128]


def has_numbers(value, expected, is_kind=assert_array, what="the array"):
    is_kind(value, what)
    assert_shape(value, expected, what)
    numbers = expected if isinstance(value, torch.Tensor) else expected.resolve_conj().resolve_neg().numpy()
    assert_values(value, numbers, what, rtol=0.0, atol=0.0)


@check("C1", share=3, try_this=KINDS)
def check_edges(student, rng):
    """Takes all kinds of tensors"""
    for t in edge_cases(rng, 3, 4).values():
        expected = t.detach().clone()
        has_numbers(student.to_numpy(t), expected.float() if t.dtype == torch.bfloat16 else expected)


@check("C1", share=3, try_this=KINDS)
def check_made(student, probe, rng):
    """Takes results of computations, and what comes from conj()"""
    real, imag = rng.normal(3, 2), rng.normal(3, 2)
    both = torch.complex(real, imag)
    made = ("result", real, real), ("conj", both, torch.complex(real, -imag)), ("imag", both, -imag)
    for name, numbers, expected in made:
        has_numbers(probe.of_made(student.to_numpy, name, numbers.clone())[0], expected)


@check("C2", category="dtype", share=2, try_this="to_numpy(torch.ones(1).half()).dtype, to_numpy(torch.arange(1))")
def check_dtypes(student):
    """Keeps every dtype that NumPy has"""
    for dtype in DTYPES:
        array = student.to_numpy(torch.ones(2, dtype=dtype))
        assert_array(array, "the array")
        assert_dtype(array, dtype, "the array")


@check("C3", category="memory", share=3, try_this="t = torch.zeros(2, 3); to_numpy(t.T)[0] = 1; print(t)")
def check_shares(student, probe, rng):
    """Shares memory with tensors of all dtypes and strides"""
    base = rng.normal(5, 8)
    tensors = [base, base.T, base[1:, ::2], base[0], base[:, :1].expand(5, 3), base[2, 3]]
    for t in [*tensors, torch.ones(3, requires_grad=True)]:
        array = student.to_numpy(t)
        assert_array(array, "the array")
        assert_true(shares_memory(array, t), "the array is a copy where it could share memory")
    for t in (torch.ones(3, dtype=dtype) for dtype in DTYPES):
        array = student.to_numpy(t)
        assert_array(array, "the array")
        assert_true(shares_memory(array, t), "the array of another dtype is a copy where it could share memory")
    _, same, _ = probe.of_made(student.to_numpy, "result", rng.normal(3))
    assert_true(same is True, "the array is a copy where it could share memory, with a tensor that requires a gradient")


@check("C4", category="gradient", share=1, try_this="t = torch.ones(2, requires_grad=True); to_numpy(t); print(t)")
def check_t_stays(student, probe, rng):
    """Leaves t, its grad and its graph as they are"""
    assert_does_not_mutate(student.to_numpy, rng.normal(2, 3), what="t")
    *_, kept = probe.of_made(student.to_numpy, "result", rng.normal(3))
    assert_true(kept is True, "t is the result of a computation, and lost its graph")


@check("C1", category="device", share=2, device="sim", try_this=THERE)
def check_there(student, accelerator, rng):
    """Takes tensors from devices"""
    for place in (0, 1):
        for dtype in (torch.float32, torch.bfloat16, torch.int64):
            t = rng.whole(-50, 50, 4, 3, dtype=dtype)
            has_numbers(student.to_numpy(accelerator.put(t, place)), t.float() if dtype == torch.bfloat16 else t)
        weights = accelerator.put(rng.normal(3), place).requires_grad_()
        assert_array(student.to_numpy(weights), "the array")


@check("C5", category="device", share=2, device="sim", try_this=THERE)
def check_from_a_device(student, accelerator, rng):
    """Copies once from a device"""
    for place in (0, 1):
        for dtype in (torch.float32, torch.bfloat16, torch.int64, torch.float64):
            t = rng.whole(-50, 50, 4, 3, dtype=dtype)
            size = t.numel() * t.element_size()
            assert_costs_at_most(student.to_numpy, (accelerator.put(t, place),), transfers=1, transferred=size)


def arrays(rng):
    """Writable arrays without negative strides, and those with some."""
    base = rng.normal(4, 6).numpy()
    plain = [base, base.T, base[1:, ::2], np.array(2.5), np.zeros((0, 3)), rng.normal(3, dtype=torch.float64).numpy()]
    plain += [np.ones(2, dtype=name) for name in ("bool", "uint8", "int16", "int64", "float16", "complex64")]
    plain.append(rng.normal(1, 3).expand(4, 3).numpy())  # writable, with a stride of 0
    mirrored = [base[::-1], base[:, ::-1], base.T[::-2, ::-1], rng.whole(0, 9, 5).numpy()[::-1]]
    return plain, [*mirrored, np.arange(5, dtype=np.int8)[::-1]]  # the last has a stride of -1


@check("C6", share=3, try_this="to_tensor(np.arange(6).reshape(2, 3)[:, ::-1]), to_tensor(np.array(3.0))")
def check_arrays(student, rng):
    """Takes arrays of all kinds"""
    plain, mirrored = arrays(rng)
    for a in (*plain, *mirrored):
        expected = torch.from_numpy(a.copy())
        t = student.to_tensor(a)
        has_numbers(t, expected, assert_tensor, "the tensor")
        assert_dtype(t, expected, "the tensor")


@check("C6", category="error", share=1, try_this="a = np.ones(2); a.flags.writeable = False; to_tensor(a)")
def check_no_warning(student, probe, rng):
    """Warns of nothing, also for a read-only array"""
    expected = rng.normal(3)
    a = expected.numpy().copy()
    a.flags.writeable = False
    assert_close(assert_no_warnings(student.to_tensor, a), expected, "the tensor")
    always = probe.of_read_only(student.to_tensor, expected.numpy())
    assert_close(always, expected, "the tensor of an array that stays read-only")


@check("C7", category="memory", share=2, try_this="to_tensor(a)[0] = 9; to_tensor(a[::-1])[0] = 5; print(a)")
def check_shares_arrays(student, rng):
    """Shares memory with arrays where it can, and only there"""
    plain, mirrored = arrays(rng)
    for a in plain:
        t = student.to_tensor(a)
        assert_tensor(t, "the tensor")
        if a.size:
            assert_true(shares_memory(t, a), "the tensor is a copy where it could share memory")
    for a in mirrored:
        with assert_unchanged(a, what="a"):
            t = student.to_tensor(a)
        assert_tensor(t, "the tensor")
        assert_true(not shares_memory(t, a), "the tensor shares memory with a mirrored array, in another order")
    a = rng.normal(3, 4).numpy()
    assert_writes_show(student.to_tensor(a), a, "the tensor", "a")
    a.flags.writeable = False
    t = student.to_tensor(a)
    assert_tensor(t, "the tensor")
    assert_true(not shares_memory(t, a), "the tensor shares the memory of a read-only array; copy it first")
