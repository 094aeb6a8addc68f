"""The words that check files are written in: they import what they need from here, and nothing else of ours.

declare                      what a check is: its rule, its share, what its worker sees
generate                     random inputs: numbers, and tensors of every kind
kinds, properties, values    what a value is: its kind; its shape, dtype, device and layout; its numbers
sharing, memory              views and copies, arguments that stay as they are; memory that is needed
rules, torch_names           what may be used, by the names that PyTorch gives it, and what a file may not import
text, evidence               what decides about loops and hidden calls: the text, and CPU time seen from outside
probes                       what a call prints and warns of, a call under a seed, a step of training, an evaluation
calls                        what a call raises, accepts or answers
modules                      parameters and buffers of an nn.Module, and whether they learn
gradient                     gradients, and whether numbers stayed in PyTorch
counts, costs                what a call costs in operators, memory, copies and waits, and how much it may cost
speed                        a ratio of CPU times to another solution
devices                      the accelerator that a check's worker sees
ranks                        a function on several ranks of torch.distributed
show                         values as text, for messages

Each raises `endings.CheckFailed`, whose text teaches. Student code is called through `grader.connection`.
"""

from grader.check.calls import accepts, answers, calling, raises
from grader.check.costs import (
    count_ops,
    no_loop,
    no_new_storage,
    poisoned,
    stays_in_torch,
    uses_at_most,
)
from grader.check.counts import count
from grader.check.declare import check
from grader.check.evidence import reads_openly
from grader.check.generate import Rng
from grader.check.gradient import gradcheck, gradients, keeps_graph
from grader.check.kinds import is_array, is_instance, is_tensor, kind, require, type_name
from grader.check.memory import as_lean_as
from grader.check.modules import has_parameters, learns, same_weights
from grader.check.probes import Evaluated, Heard, Trained, evaluation, heard, no_warning, seeded, training_step
from grader.check.properties import facts, on_device, same_dtype, same_layout, same_shape
from grader.check.ranks import on_ranks
from grader.check.rules import does_not_call, imports_no, uses_only
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
from grader.check.speed import as_fast_as
from grader.check.values import agrees, as_elsewhere, number, plain, same, same_values
from grader.connection.student import source
from grader.model.endings import CannotJudge, CheckFailed
from grader.wire.decode import copies

__all__ = ["CannotJudge", "CheckFailed", "Evaluated", "Heard", "Rng", "Trained", "accepts", "agrees", "answers"]
__all__ += ["as_elsewhere", "as_fast_as", "as_lean_as", "calling", "changed", "check", "copies", "count", "count_ops"]
__all__ += ["does_not_call", "evaluation", "facts", "gradcheck", "gradients", "has_parameters"]
__all__ += ["heard", "imports_no", "in_place", "is_array", "is_instance", "is_tensor", "is_view_of", "keeps_graph"]
__all__ += ["kind", "learns", "no_loop", "no_new_storage", "no_warning", "number", "on_device", "on_ranks", "plain"]
__all__ += ["poisoned", "raises", "reads_openly", "require", "same", "same_dtype", "same_layout", "same_shape"]
__all__ += ["same_values", "same_weights", "seeded", "shares", "shares_memory", "shares_nothing", "source"]
__all__ += ["stays_in_torch", "training_step", "type_name", "unchanged", "uses_at_most", "uses_only", "writes_show"]
