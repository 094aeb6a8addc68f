import torch

from grader.check import assert_isinstance, assert_no_hidden_code, assert_true, assert_values, check

X = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


@check("C1", share=2)
def check_seconds(student, probe):
    """The loop takes 6 seconds, the sum 2: three times as fast"""
    found, timers = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    assert_isinstance(found, dict)
    assert_true(timers, "nothing is timed with the Timer that `compare_sums` is given")
    assert_true(any(loop for loop, _, _ in timers), "no timed statement adds the entries one by one, as tensors")
    for key, asked in {"loop": 6.0, "sum": 2.0, "speedup": 3.0}.items():
        assert_true(key in found, f'the result has no "{key}"')
        assert_values(found[key], asked, f'result["{key}"]')
    # Hidden checks cannot judge code that hides what it does.
    assert_no_hidden_code(student.compare_sums, ("Timer", "timeit", "globals"))


@check("C2", share=2)
def check_runs(student, probe):
    """Each run finds what the first one found"""
    _, timers = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    assert_true(timers, "nothing is timed with Timer")
    for loop, runs, _ in timers:
        last = [numbers[-1] if numbers else None for _, numbers in runs]
        text = f"the runs of the timed {'loop' if loop else 'sum'} do not all end with the same number"
        ends = ", ".join("nothing" if number is None else str(number) for number in last)
        assert_true(len(set(last)) == 1, text, f"{text}: [{ends}]")


@check("C4", share=1)
def check_python_sum(student, probe):
    """No timed statement calls anything else `sum`"""
    _, timers = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    assert_true(not any(hides for _, _, hides in timers), "in a timed statement, `sum` is not Python's own")


@check("C5", share=2)
def check_totals(student, probe):
    """The totals of six numbers"""
    found, _ = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    assert_isinstance(found, dict)
    assert_true("totals" in found, 'the result has no "totals"')
    assert_values(found["totals"], (torch.tensor(63.0), torch.tensor(63.0)), 'result["totals"]')
