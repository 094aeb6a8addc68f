"""What takes virtual time on a simulated accelerator, for `grade trace`: a check is run, or lines of the student's.

That is what the worker says, and it decides nothing: it is drawn for the student whose code ran there.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

from grader.check.costs import moments_of
from grader.check_process.run_check import PlannedRun
from grader.connection.connection import Connection, proxy_of_name
from grader.connection.raised import error_text, raised_by_student
from grader.connection.record import Record
from grader.model import Outcome, Verdict
from grader.model.endings import CheckFailed, NotUsable, WorkerLost
from grader.model.picture import Moment

_MOST_MOMENTS = 4000


def run_traced(planned: PlannedRun, student: Connection, lines: str) -> Outcome:
    """Run a check or a student's lines, and return what took virtual time.

    The outcome has a `Moment` for each such thing.

    Args:
        planned: the check, ready to run.
        student: the connection whose worker is called.
        lines: the lines that are run in place of the check; "" for the check itself.
    """
    check = planned.row.check
    outcome = Outcome(check.id, Verdict.NOT_RUN, device=student.device)
    try:
        if not lines and check.shown:
            planned.run(student)
            return replace(outcome, moments=_read_moments(student))
        # In a worker that has met no hidden input, so the moments reveal none.
        with closing(student.with_new_worker()) as fresh:
            fresh.begin_check(Record())
            fresh.names()
            try:
                proxy_of_name(fresh, "run_snippet", "")(fresh.module, lines)
            except Exception as error:  # any exception of the lines: what they did until then is drawn
                raised = raised_by_student(error)
                outcome = replace(outcome, message=f"raised {error_text(raised) if raised else type(error).__name__}")
            return replace(outcome, moments=_read_moments(fresh))
    except NotUsable as error:
        return replace(outcome, verdict=Verdict.ERROR, message=error.story)
    except CheckFailed as error:
        return replace(outcome, verdict=Verdict.FAILED, message=error.story)
    except WorkerLost as lost:
        return replace(outcome, verdict=lost.verdict, message=lost.message)


def _read_moments(connection: Connection) -> tuple[Moment, ...]:
    return tuple(moments_of(proxy_of_name(connection, "take_spans", "")(), _MOST_MOMENTS))
