"""The words that check files are written in: they import what they need from here, and nothing else of ours.

declare     what a check is: its rule, its share, what its worker sees; and what it is given: random inputs, edge cases
properties  what a value is: its kind, shape, dtype, device, layout; the parameters of a module
values      numbers that are equal, within the tolerance of their dtype; views and copies, what stays as it is
rules       what may be used, by the names that PyTorch gives it, and what a file may not import
loops       loops that are written in the source
source      the source of the submission as a syntax tree: which code runs, and which names it mentions
hidden_code  code that could hide what it does, which a check refuses
names       names in a syntax tree: what binds them, and what they stand for
calls       what a call raises, prints and warns of, its gradients, a call under a seed, training and evaluation
costs       what a call costs in operators, memory, copies and waits, how much it may cost, and a call on several ranks
ratios      CPU time and memory against another solution
show        values as text and as pictures, for messages
renamed     words that had another name before

A word that begins with `assert_` fails the check, as `raises` does, by `endings.CheckFailed`, whose text teaches. Every
other word returns a value. Student code is called through `grader.connection`.
"""

from typing import TYPE_CHECKING, NoReturn

from grader.check.calls import (
    Captured,
    Evaluated,
    Trained,
    assert_does_not_raise,
    assert_gradcheck,
    assert_keeps_graph,
    assert_no_warnings,
    assert_parameters_get_gradients,
    assert_returns_bool,
    call_seeded,
    call_with_poisoned_memory,
    calling,
    capture,
    evaluation,
    gradients,
    raises,
    training_step,
)
from grader.check.costs import (
    assert_costs_at_most,
    assert_no_loop,
    assert_no_new_storage,
    assert_stays_in_torch,
    count_costs,
    count_ops,
    run_on_ranks,
)
from grader.check.declare import (
    Rng,
    assert_differentiable,
    assert_does_not_mutate,
    assert_preserves_dtype,
    check,
    edge_cases,
)
from grader.check.hidden_code import assert_no_hidden_code
from grader.check.loops import assert_no_loop_in_source
from grader.check.properties import (
    assert_array,
    assert_device,
    assert_dtype,
    assert_isinstance,
    assert_memory_layout,
    assert_parameters,
    assert_shape,
    assert_tensor,
    assert_true,
    facts,
    kind,
    load_weights,
    type_name,
)
from grader.check.ratios import assert_cpu_time_ratio, assert_peak_memory_ratio
from grader.check.renamed import NEW_NAMES
from grader.check.rules import assert_does_not_import, assert_does_not_use, assert_runs_without, assert_uses_only
from grader.check.values import (
    after_call,
    allclose,
    as_number,
    as_tuples,
    assert_close,
    assert_in_place,
    assert_shares_memory,
    assert_shares_no_memory,
    assert_unchanged,
    assert_values,
    assert_values_unless_wrong_elsewhere,
    assert_view,
    assert_writes_show,
    copies,
    shares_memory,
)
from grader.connection.student import source
from grader.model.endings import CannotJudge, CheckFailed

__all__ = [
    "CannotJudge",
    "Captured",
    "CheckFailed",
    "Evaluated",
    "Rng",
    "Trained",
    "after_call",
    "allclose",
    "as_number",
    "as_tuples",
    "assert_array",
    "assert_close",
    "assert_costs_at_most",
    "assert_cpu_time_ratio",
    "assert_device",
    "assert_differentiable",
    "assert_does_not_import",
    "assert_does_not_mutate",
    "assert_does_not_raise",
    "assert_does_not_use",
    "assert_dtype",
    "assert_gradcheck",
    "assert_in_place",
    "assert_isinstance",
    "assert_keeps_graph",
    "assert_memory_layout",
    "assert_no_hidden_code",
    "assert_no_loop",
    "assert_no_loop_in_source",
    "assert_no_new_storage",
    "assert_no_warnings",
    "assert_parameters",
    "assert_parameters_get_gradients",
    "assert_peak_memory_ratio",
    "assert_preserves_dtype",
    "assert_returns_bool",
    "assert_runs_without",
    "assert_shape",
    "assert_shares_memory",
    "assert_shares_no_memory",
    "assert_stays_in_torch",
    "assert_tensor",
    "assert_true",
    "assert_unchanged",
    "assert_uses_only",
    "assert_values",
    "assert_values_unless_wrong_elsewhere",
    "assert_view",
    "assert_writes_show",
    "call_seeded",
    "call_with_poisoned_memory",
    "calling",
    "capture",
    "check",
    "copies",
    "count_costs",
    "count_ops",
    "edge_cases",
    "evaluation",
    "facts",
    "gradients",
    "kind",
    "load_weights",
    "raises",
    "run_on_ranks",
    "shares_memory",
    "source",
    "training_step",
    "type_name",
]

# Type checkers must not see this: they would take every name for one that exists.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> NoReturn:
        """Raise an error for a name that is not in this module, with its new name if it has one.

        For `accepts` the error begins with "`accepts` is named `assert_does_not_raise` now".

        Args:
            name: the name that is imported and not defined.

        Raises:
            ImportError: the word has another name.
            AttributeError: there never was such a word.
        """
        if name in NEW_NAMES:
            # An AttributeError would become "cannot import name", without this text.
            raise ImportError(f"`{name}` is named `{NEW_NAMES[name]}` now; docs/check-words.md has all new names")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
