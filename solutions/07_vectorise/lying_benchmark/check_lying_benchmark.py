import ast
import math

import torch

from grader.check import (
    CheckFailed,
    as_number,
    assert_dtype,
    assert_isinstance,
    assert_no_hidden_code,
    assert_shape,
    assert_tensor,
    assert_true,
    assert_unchanged,
    assert_values,
    check,
    source,
)

TAKE = ("view", "index", "take", "index_select", "gather", "_local_scalar_dense")  # an entry out of x


def entries(rng, dtype=torch.float32):
    """Numbers to add up, all positive so that a running total tells how far it is."""
    return rng.uniform(rng.integer(6, 12), dtype=dtype) + 0.5


def exact(x):
    """The total by plain Python, in float64."""
    return math.fsum(x.double().tolist())


def measured(student, probe, x, loop_s=5.0, sum_s=0.5, times=1):
    """What the probe gives. It has the times that are expected, so the text must not hide what it does."""
    assert_no_hidden_code(student.compare_sums, ("Timer", "timeit", "globals"))
    return probe.measured(student.compare_sums, x, loop_s, sum_s, times)


def totals_of(found):
    """The two totals, from any dict."""
    assert_isinstance(found, dict)
    assert_true("totals" in found, 'the dict has no "totals"')
    assert_true(isinstance(found["totals"], (tuple, list)) and len(found["totals"]) == 2, "there are not two totals")
    return found["totals"]


def hides_sum(node):
    """Whether this is a place where `sum` gets another meaning."""
    if isinstance(node, ast.Name):
        return node.id == "sum" and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.arg):
        return node.arg == "sum"
    return (getattr(node, "asname", None) or getattr(node, "name", "")) == "sum"  # of an import, a def, a class


@check("C1", share=3, try_this="print the Measurement that timeit(3) gives, and its median, mean and raw_times")
def check_other_seconds(student, probe, rng):
    """The times of one run, and their ratio the right way up"""
    x, loop_s, sum_s = entries(rng), rng.integer(50, 90) / 8, rng.integer(1, 30) / 64
    found, _ = measured(student, probe, x, loop_s, sum_s)
    assert_isinstance(found, dict)
    for key, asked in {"loop": loop_s, "sum": sum_s, "speedup": loop_s / sum_s}.items():
        assert_true(key in found, "the dict lacks a key that the rule names")
        assert_isinstance(found[key], float, f'result["{key}"]')
        assert_values(found[key], asked, f'result["{key}"]', rtol=1e-6, atol=0.0)


@check("C2", share=3, try_this="print the accumulator after each of three calls of what is timed")
def check_same_runs(student, probe, rng):
    """Every run does the same"""
    _, timers = measured(student, probe, entries(rng))
    assert_true(timers, "nothing is timed with Timer")
    for _, runs, _ in timers:
        same = all(len(run[1]) == len(runs[0][1]) for run in runs)
        assert_true(same, "a later run does more or less than the first one")
        assert_true(all(run[1] == runs[0][1] for run in runs), "a run goes on with the numbers that the last one left")


@check("C3", category="performance", share=3, try_this="say for each operation in a timed statement why it is timed")
def check_only_adding(student, probe, rng):
    """Each run of the loop adds each entry once, each run of the sum is one operation, and both give the total"""
    for x, where in ((entries(rng), ""), (entries(rng)[::2], " where x has gaps")):
        asked, (_, timers) = exact(x), measured(student, probe, x)
        loops = [loop for loop, _, _ in timers]
        assert_true(any(loops), "no timed statement adds the entries one by one, as tensors")
        assert_true(not all(loops), "no timed statement adds up without a loop")
        for loop, ((ops, numbers), *_), _ in timers:
            adds = sum(op in ("add", "add_") for op in ops)
            others = [op for op in ops if op not in ("add", "add_", *TAKE)]  # a start takes one, two or three
            assert_true(not loop or "copy of many" not in others, "what is timed as the loop copies x")
            slim = adds <= len(x) and len(others) <= 4
            assert_true(slim or not loop, "the loop does more than add each entry once")
            assert_true(ops, "what is timed as the sum runs no operation")
            assert_true(len(ops) == 1 or loop, f"what is timed as the sum does more than add up{where}")
            gives_total = any(math.isclose(number, asked, rel_tol=1e-4) for number in numbers)
            assert_true(gives_total, f"the {'loop' if loop else 'sum'} misses the total")


@check("C4", share=1, try_this="look for every place where `sum` gets a value: =, +=, def, an argument, globals")
def check_name(student, probe, rng):
    """Python's own sum can be called everywhere"""
    lines = [node.lineno for node in ast.walk(ast.parse(source(student))) if hides_sum(node)]
    _, timers = measured(student, probe, entries(rng))
    if lines:
        raise CheckFailed(f"your file gives the name `sum` to something else (line {min(lines)})", from_text=True)
    assert_true(not any(hides for _, _, hides in timers), "in a timed statement, `sum` is not Python's own")


@check("C5", category="dtype", share=1, try_this="compare_sums(torch.rand(9).double(), Timer)['totals']")
def check_dtype(student, probe, rng):
    """Totals are 0-dim tensors of the dtype of x"""
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        for total in totals_of(measured(student, probe, entries(rng, dtype))[0]):
            assert_tensor(total, "a total")
            assert_shape(total, (), "a total")
            assert_dtype(total, dtype, f"a total for {str(dtype).removeprefix('torch.')}")


@check("C5", share=1, try_this="call compare_sums twice and compare the totals")
def check_again(student, probe, rng):
    """Right totals, also of a second call"""
    for times in (1, 2):
        x = entries(rng)
        asked = exact(x)
        for total in totals_of(measured(student, probe, x, times=times)[0]):
            number = total.item() if isinstance(total, torch.Tensor) and total.numel() == 1 else total
            assert_values(number, asked, "a total", rtol=1e-4, atol=1e-4)
    ones = torch.ones(2100, dtype=torch.float16)  # added one by one they stay at 2048, in any order
    found, timers = measured(student, probe, ones)
    by_loop, by_sum = (as_number(total, "a total") for total in totals_of(found))
    assert_values(by_sum, 2100.0, "the total by x.sum()")
    timed = {number for loop, runs, _ in timers if loop for _, numbers in runs for number in numbers}
    assert_true(not timed or by_loop in timed, "the first total is not one that the timed loop comes to")


@check("C6", category="memory", share=1, try_this="x = torch.rand(4); compare_sums(x, Timer); print(x)")
def check_kept(student, probe, rng):
    """Leaves x as it was"""
    x = entries(rng)
    with assert_unchanged(x, what="x"):
        found, _ = measured(student, probe, x)
    assert_true(found is not None, "the result is None (is a `return` missing?)")
