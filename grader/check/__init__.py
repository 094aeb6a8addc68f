"""The words that check files are written in: they import what they need from here, and nothing else of ours.

declare                      what a check is: its rule, its share, what its worker sees
generate                     random inputs: numbers, tensors of every kind, samples of what answers stumble over
kinds, properties, values    what a value is: its kind; its shape, dtype, device and layout; its numbers
sharing, memory              views and copies, arguments that stay as they are; memory that is needed and kept
rules, torch_names           what may be used, by the names that PyTorch gives it
mentions, bindings           which names a student's text mentions, and what they stand for
each                         what a function answers in each of several cases
calls, plain_python          what a call raises, accepts or answers; what a file imports, and answers without PyTorch
modules                      parameters and buffers of an nn.Module, and whether they learn
gradient                     gradients, and whether numbers stayed in PyTorch
counts, costs                what a call costs in operators, memory, copies and waits, and how much it may cost
speed                        a ratio of CPU times to another solution
devices                      the accelerator that a check's worker sees
ranks                        a function on several ranks of torch.distributed
show                         values as text, for messages

Each raises `endings.CheckFailed`, whose text teaches. Student code is asked through `grader.remote`.
"""

from grader.check.calls import accepts, answers, calling, each_raises, raises
from grader.check.costs import (
    count_ops,
    no_loop,
    no_new_storage,
    no_warning,
    poisoned,
    same_count,
    stays_in_torch,
    uses_at_most,
)
from grader.check.counts import count
from grader.check.declare import check
from grader.check.each import each
from grader.check.generate import Rng, Sample
from grader.check.gradient import gradcheck, gradients, keeps_graph
from grader.check.kinds import is_array, is_instance, is_tensor, kind, public_names, require, type_name
from grader.check.memory import as_lean_as, releases
from grader.check.modules import has_parameters, learns, overfits, same_weights
from grader.check.plain_python import imports_no, runs_no_operation
from grader.check.properties import claims, on_device, same_dtype, same_layout, same_shape
from grader.check.ranks import on_ranks
from grader.check.rules import does_not_call, uses_only
from grader.check.sharing import (
    changed,
    in_place,
    is_view_of,
    shares,
    shares_memory,
    shares_nothing,
    unchanged,
    writes_show,
)
from grader.check.speed import as_fast_as, faster_than
from grader.check.torch_names import arithmetic, comparison, indexing
from grader.check.values import agrees, as_elsewhere, number, plain, same, same_values
from grader.model.endings import CannotJudge, CheckFailed
from grader.remote.student import source
from grader.wire.incoming import copies

__all__ = [
    "CannotJudge",
    "CheckFailed",
    "Rng",
    "Sample",
    "accepts",
    "agrees",
    "answers",
    "arithmetic",
    "as_elsewhere",
    "as_fast_as",
    "as_lean_as",
    "calling",
    "changed",
    "check",
    "claims",
    "comparison",
    "copies",
    "count",
    "count_ops",
    "does_not_call",
    "each",
    "each_raises",
    "faster_than",
    "gradcheck",
    "gradients",
    "has_parameters",
    "imports_no",
    "in_place",
    "indexing",
    "is_array",
    "is_instance",
    "is_tensor",
    "is_view_of",
    "keeps_graph",
    "kind",
    "learns",
    "no_loop",
    "no_new_storage",
    "no_warning",
    "number",
    "on_device",
    "on_ranks",
    "overfits",
    "plain",
    "poisoned",
    "public_names",
    "raises",
    "releases",
    "require",
    "runs_no_operation",
    "same",
    "same_count",
    "same_dtype",
    "same_layout",
    "same_shape",
    "same_values",
    "same_weights",
    "shares",
    "shares_memory",
    "shares_nothing",
    "source",
    "stays_in_torch",
    "type_name",
    "unchanged",
    "uses_at_most",
    "uses_only",
    "writes_show",
]
