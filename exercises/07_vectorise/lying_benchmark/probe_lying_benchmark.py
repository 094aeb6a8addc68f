"""A Timer that watches: it runs statements as PyTorch's own does; its times are made up. Runs beside your code."""

import ast

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.benchmark import Measurement, Timer


class Watch(TorchDispatchMode):
    """Notes for each run which operations ran, all views as such, and the single numbers that they gave."""

    def __init__(self):
        super().__init__()
        self.runs = []
        self.ops, self.numbers = [], []

    @classmethod
    def _should_skip_dynamo(cls):
        """Keeps PyTorch from importing its compiler, which takes seconds, at the first operation."""
        return False

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        name = "view" if func.is_view else func.overloadpacket.__name__
        if isinstance(result, torch.Tensor) and result.numel() == 1:
            self.numbers.append(float(result))
        elif name in ("clone", "_to_copy", "copy_"):
            name = "copy of many"
        self.ops.append(name)
        return result

    def each(self, number):
        """Begins a new page before each run."""
        for _ in range(number):
            self.ops, self.numbers = [], []
            self.runs.append([self.ops, self.numbers])
            yield
        self.ops, self.numbers = [], []  # what comes next is the setup of other runs


def names(statement):
    """What a statement gives a name to."""
    return {
        node.id
        for node in ast.walk(ast.parse(statement))
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }


def measured(compare_sums, x, loop_s, sum_s, times=1):
    """The last of so many results, and for each Timer: whether it timed a loop, its runs, whether it hides `sum`."""
    told = []

    class Stand(Timer):
        def watched(self, per_run, blocks, number):
            watch, spec = Watch(), self._task_spec
            for count in (2, min(number, 3)):  # as PyTorch's: a warm-up first, and the setup before each of the two
                with watch:
                    self._timer.inner(watch.each(count), lambda: 0.0)
            loop = sum(op in ("add", "add_") for op in watch.runs[0][0]) >= len(x) - 1
            hides = "sum" in {*self._globals, *names(spec.stmt), *names(spec.setup)}
            told.append([loop, watch.runs, hides])
            seconds = loop_s if loop else sum_s
            return Measurement(per_run, [per_run * block * seconds for block in blocks], spec)

        def timeit(self, number=1_000_000):
            return self.watched(number, [1.0], number)

        def blocked_autorange(self, callback=None, min_run_time=0.2):
            return self.watched(10, [1.0, 1.0, 4.0, 0.5, 7.0], 3)

        def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
            return self.watched(10, [1.0, 1.0, 4.0, 0.5, 7.0], 3)

    for _ in range(times):
        told.clear()
        found = compare_sums(x, Stand)
    return found, told
