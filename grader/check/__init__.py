"""The words that check files are written in: they import what they need from here, and nothing else of ours.

declare     what a check is: its rule, its share, what its worker sees; and what it is given: random inputs, edge cases
properties  what a value is: its kind, shape, dtype, device, layout; the parameters of a module
values      numbers that are equal, within the tolerance of their dtype; views and copies, what stays as it is
rules       what may be used, by the names that PyTorch gives it, and what a file may not import
text        what decides about that: the text of the submission, as a syntax tree
calls       what a call raises, prints and warns of, its gradients, a call under a seed, training and evaluation
costs       what a call costs in operators, memory, copies and waits, how much it may cost, and a call on several ranks
ratios      CPU time and memory against another solution
show        values as text and as pictures, for messages

Each raises `endings.CheckFailed`, whose text teaches. Student code is called through `grader.connection`.
"""

from grader.check.calls import (
    Evaluated,
    Heard,
    Trained,
    accepts,
    answers,
    calling,
    evaluation,
    gradcheck,
    gradients,
    heard,
    keeps_graph,
    learns,
    no_warning,
    poisoned,
    raises,
    seeded,
    training_step,
)
from grader.check.costs import count, count_ops, no_loop, no_new_storage, on_ranks, stays_in_torch, uses_at_most
from grader.check.declare import Rng, check, edge_cases, keeps_arguments, keeps_dtypes, lets_gradients_through
from grader.check.properties import (
    facts,
    has_parameters,
    is_array,
    is_instance,
    is_tensor,
    kind,
    on_device,
    require,
    same_dtype,
    same_layout,
    same_shape,
    same_weights,
    type_name,
)
from grader.check.ratios import as_fast_as, as_lean_as
from grader.check.rules import does_not_call, imports_no, runs_without, uses_only
from grader.check.text import reads_openly
from grader.check.values import (
    agrees,
    as_elsewhere,
    changed,
    in_place,
    is_view_of,
    number,
    plain,
    same,
    same_values,
    shares,
    shares_memory,
    shares_nothing,
    unchanged,
    writes_show,
)
from grader.connection.student import source
from grader.model.endings import CannotJudge, CheckFailed
from grader.wire.decode import copies

__all__ = ["CannotJudge", "CheckFailed", "Evaluated", "Heard", "Rng", "Trained", "accepts", "agrees", "answers"]
__all__ += ["as_elsewhere", "as_fast_as", "as_lean_as", "calling", "changed", "check", "copies", "count", "count_ops"]
__all__ += ["does_not_call", "edge_cases", "evaluation", "facts", "gradcheck", "gradients", "has_parameters"]
__all__ += ["heard", "imports_no", "in_place", "is_array", "is_instance", "is_tensor", "is_view_of"]
__all__ += ["keeps_arguments", "keeps_dtypes", "keeps_graph", "kind", "learns", "lets_gradients_through"]
__all__ += ["no_loop", "no_new_storage", "no_warning", "number", "on_device", "on_ranks", "plain"]
__all__ += ["poisoned", "raises", "reads_openly", "require", "runs_without", "same", "same_dtype", "same_layout"]
__all__ += ["same_shape"]
__all__ += ["same_values", "same_weights", "seeded", "shares", "shares_memory", "shares_nothing", "source"]
__all__ += ["stays_in_torch", "training_step", "type_name", "unchanged", "uses_at_most", "uses_only", "writes_show"]
