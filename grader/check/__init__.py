"""The trusted side that reads checks and decides verdicts. Check files import their vocabulary from here.

Nothing in this package runs student code: it lives in workers, and is asked through `student`.

session     one pytest session for the whole run; `timer`, `printed` and `self_test` help it
student     `student.total(x)` looks local and runs in a worker
workers     asking and ending workers, renewing a lost one; `start` starts them, the one seam
declare, compare, probes    what check files say; `show` puts values into messages
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
from grader.check.declare import Rng, check
from grader.check.probes import count_operations, gradcheck, gradients, keeps_graph, no_loop
from grader.check.student import CannotJudge, source
from grader.wire.incoming import copies

__all__ = [
    "CannotJudge",
    "CheckFailed",
    "Rng",
    "check",
    "claims",
    "copies",
    "count_operations",
    "gradcheck",
    "gradients",
    "in_place",
    "is_array",
    "is_instance",
    "is_tensor",
    "is_view_of",
    "keeps_graph",
    "no_loop",
    "on_device",
    "public_names",
    "require",
    "same",
    "same_dtype",
    "same_layout",
    "same_shape",
    "same_values",
    "shares",
    "shares_memory",
    "shares_nothing",
    "source",
    "type_name",
    "unchanged",
]
