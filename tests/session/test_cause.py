"""What ended a check, in the word by which a report puts causes before consequences."""

from __future__ import annotations

import pytest

from grader.connection.raised import Raised, exception_of
from grader.model import Check, Verdict
from grader.model.public import say
from grader.session.decide import cause_of


@pytest.mark.parametrize("shown", [True, False])
def test_what_is_not_written_is_told_as_such_where_an_error_is_asked(shown: bool) -> None:
    """The starter's own error ends every check of its function alike; another error is a wrong answer."""
    check = Check("refuses", "double", "Refuses", "C3", category="error", shown=shown)
    raised = Raised("TypeError", "TypeError", "no", (), "", "", "your `double`", "your", say("expected a ValueError"))
    error = exception_of(raised)
    assert cause_of(check, Verdict.SKIPPED, error) == "raised"
    assert cause_of(check, Verdict.CRASHED, error) == "values"
