"""What the environment tells of a CI job, and what is told to it: outputs, the page of the job, groups in its log."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.model import Verdict
from grader.model.errors import GraderError
from grader.report.export.checked import Options, number
from grader.report.export.classroom import classroom, in_base64
from grader.report.export.log import github_log, gitlab_log, plain_log
from grader.report.export.markdown import markdown
from grader.report.schema import ReportFile

_PUBLIC = "public"


@dataclass(frozen=True)
class Platform:
    """The system that runs a job.

    Attributes:
        environ: its environment.
        log: how a report is told in its log.
        author: whose repository is graded, by its name; "" where no variable tells.
        is_public: whether everybody can read the log, as far as is known.
        root: of the repository, as annotations name files from there.
    """

    environ: Mapping[str, str]
    log: Callable[[ReportFile, Options], str]
    author: str
    is_public: bool
    root: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Platform:
        """The one that this environment is of."""
        root = Path(environ.get("GITHUB_WORKSPACE") or environ.get("CI_PROJECT_DIR") or ".").resolve()
        if environ.get("GITHUB_ACTIONS") == "true":
            name = environ.get("GITHUB_REPOSITORY", "").rpartition("/")[2]
            return cls(environ, github_log, name, _is_public(environ.get("GITHUB_EVENT_PATH")), root)
        if environ.get("GITLAB_CI") == "true":
            is_public = environ.get("CI_PROJECT_VISIBILITY", _PUBLIC) == _PUBLIC
            return cls(environ, gitlab_log, environ.get("CI_PROJECT_NAME", ""), is_public, root)
        return cls(environ, plain_log, "", False, root)

    def folder_of(self, submission: Path) -> str | None:
        """The submission's folder from the root of the repository; None if it lies outside."""
        path = Path(os.path.relpath(submission.resolve(), self.root))
        if path.is_absolute() or ".." in path.parts:
            return None
        return "" if path == Path() else path.as_posix()

    def tell(self, report: ReportFile, options: Options, *, passed: bool, with_result: bool) -> None:
        """Set the outputs of the step and write the page of the job, where the platform has files for them.

        Args:
            report: the report.
            options: how it is told.
            passed: by the policy of the run.
            with_result: whether GitHub Classroom's reporter is to get it, as the output `result`.

        Raises:
            GraderError: such a file cannot be written.
        """
        total = report.score.exact
        values = {
            "score": str(number(total.earned)),
            "max_score": str(number(total.possible)),
            "undecided": str(number(total.undecided)),
            "passed": str(passed).lower(),
        }
        if with_result:
            values["result"] = in_base64(classroom(report, options))
        lines = "".join(f"{name}={value}\n" for name, value in values.items())
        for variable, text in (("GITHUB_OUTPUT", lines), ("GITHUB_STEP_SUMMARY", markdown(report, options))):
            if path := self.environ.get(variable):
                try:
                    with open(path, "a", encoding="utf-8", errors="backslashreplace") as file:
                        file.write(text)
                except OSError as error:
                    raise GraderError(f"{variable}: {path} cannot be written ({error.strerror})") from None


def is_passed(report: ReportFile, fail_below: float) -> bool:
    """Whether enough of what was decided was earned, in percent."""
    total = report.score.exact
    decided = total.possible - total.undecided
    return not decided or 100 * total.earned >= fail_below * decided


def is_unsettled(report: ReportFile) -> bool:
    """Whether a check is broken, or the machine was too busy to tell."""
    verdicts = {row.verdict for exercise in report.exercises for row in exercise.checks}
    return bool(verdicts & {Verdict.BROKEN, Verdict.INCONCLUSIVE})


def _is_public(event: str | None) -> bool:
    """Whether GitHub says so; where it says nothing, points are not told to whom they may not concern."""
    try:
        repository = json.loads(Path(event or "").read_text(encoding="utf-8"))["repository"]
        return bool(repository["private"]) is False
    except (OSError, ValueError, KeyError, TypeError):
        return True
