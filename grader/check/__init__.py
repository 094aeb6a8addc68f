"""The trusted side that reads checks and decides verdicts. Check files import their vocabulary from here.

Nothing in this package runs student code: it lives in workers, and is asked through `student`.

session     one pytest session for the whole run; `timer`, `printed` and `self_test` help it
student     `student.total(x)` looks local and runs in a worker
workers     asking and ending workers, renewing a lost one; `start` starts them, the one seam
declare, compare, probes, counts, memory, speed    what check files say; `show` puts values into messages
timed       a call with our clock around it; `ratio` decides about two times
outcome     from how a check ended to verdict and messages; `reproduce` adds lines to run
"""

from grader.check.compare import (
    CheckFailed,
    claims,
    in_place,
    is_array,
    is_instance,
    is_tensor,
    is_view_of,
    on_device,
    public_names,
    require,
    same,
    same_dtype,
    same_layout,
    same_shape,
    same_values,
    shares,
    shares_memory,
    shares_nothing,
    type_name,
    unchanged,
)
from grader.check.counts import (
    count,
    count_operations,
    no_loop,
    no_new_storage,
    no_warning,
    poisoned,
    same_count,
    stays_in_torch,
    uses_at_most,
)
from grader.check.declare import Rng, check
from grader.check.memory import as_lean_as, releases
from grader.check.probes import gradcheck, gradients, keeps_graph
from grader.check.speed import as_fast_as, faster_than
from grader.check.student import CannotJudge, source
from grader.wire.incoming import copies

__all__ = [
    "CannotJudge",
    "CheckFailed",
    "Rng",
    "as_fast_as",
    "as_lean_as",
    "check",
    "claims",
    "copies",
    "count",
    "count_operations",
    "faster_than",
    "gradcheck",
    "gradients",
    "in_place",
    "is_array",
    "is_instance",
    "is_tensor",
    "is_view_of",
    "keeps_graph",
    "no_loop",
    "no_new_storage",
    "no_warning",
    "on_device",
    "poisoned",
    "public_names",
    "releases",
    "require",
    "same",
    "same_count",
    "same_dtype",
    "same_layout",
    "same_shape",
    "same_values",
    "shares",
    "shares_memory",
    "shares_nothing",
    "source",
    "stays_in_torch",
    "type_name",
    "unchanged",
    "uses_at_most",
]
