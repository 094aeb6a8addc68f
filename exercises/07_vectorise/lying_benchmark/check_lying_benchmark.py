import torch

from grader.check import check, require, same_values

X = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])


@check("C1", share=2)
def check_seconds(student, probe):
    """The loop takes 6 seconds, the sum 2: three times as fast"""
    found, _ = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    same_values({key: found.get(key) for key in ("loop", "sum", "speedup")}, {"loop": 6.0, "sum": 2.0, "speedup": 3.0})


@check("C2", share=2)
def check_runs(student, probe):
    """Each run finds what the first one found"""
    _, timers = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    require(timers, "nothing is timed with Timer")
    for loop, runs, _ in timers:
        last = [numbers[-1] if numbers else None for _, numbers in runs]
        what = "loop" if loop else "sum"
        require(
            len(set(last)) == 1, f"{what}: the runs end with different numbers", f"{what}: the runs end with {last}"
        )


@check("C4", share=1)
def check_python_sum(student, probe):
    """No timed statement calls anything else `sum`"""
    _, timers = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    require(not any(hides for _, _, hides in timers), "`sum` is something else where a statement is timed")


@check("C5", share=2)
def check_totals(student, probe):
    """The totals of six numbers"""
    found, _ = probe.measured(student.compare_sums, X.clone(), 6.0, 2.0)
    same_values(found.get("totals"), (torch.tensor(63.0), torch.tensor(63.0)), "the totals")
