"""A submission, and what grading makes of it. Frozen data, standard library only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from grader.model.check import Check, Outcome, Speed, Verdict
from grader.model.course import Exercise


@dataclass(frozen=True)
class Place:
    """The place of an exercise's module in a submission, for messages that name a line of it.

    Attributes:
        file: its path from the submission's folder, with slashes.
        lines: the number of its lines.
        names: the line of each function and class at its top level.
    """

    file: str
    lines: int
    names: Mapping[str, int]


@dataclass(frozen=True)
class ExerciseFiles:
    """The files that a submission has of one exercise.

    Attributes:
        files: the bytes of its module and of the files beside it, by name.
        path: the path from which the module was read, or of what could not be read; None if there is no file.
        problem: the reason why there are no files, or "".
        notes: sentences for staff on where the files came from.
        cells: the code cell of each line, and the line in it, of a module from a notebook.
        untouched: True if the module is the starter.
        error: the reason why the module is not Python, or "".
        place: the module's path in the submission's folder, and where it defines what.
    """

    files: Mapping[str, bytes] = field(default_factory=dict)
    path: Path | None = None
    problem: str = ""
    notes: tuple[str, ...] = ()
    cells: tuple[tuple[int, int], ...] = ()
    untouched: bool = False
    error: str = ""
    place: Place | None = None


@dataclass(frozen=True)
class Submission:
    """The files of one author.

    Attributes:
        author: the author's name.
        exercises: the files of each exercise, by id.
        digest: the digest of all files.
        root: the folder that it was read from, or None.
        authors: the members, if the author is a group or has another name than its report; else none.
    """

    author: str
    exercises: Mapping[str, ExerciseFiles]
    digest: str = ""
    root: Path | None = None
    authors: tuple[str, ...] = ()

    def files_of(self, exercise: Exercise) -> ExerciseFiles:
        """Return the files of an exercise; an empty `ExerciseFiles` if the submission has none."""
        return self.exercises.get(exercise.id, ExerciseFiles())

    def with_files(self, exercise: Exercise, files: Mapping[str, bytes]) -> Submission:
        """Return the same submission with other files of an exercise."""
        return replace(self, exercises={**self.exercises, exercise.id: replace(self.files_of(exercise), files=files)})


MORE_LINES = "... {:,} more lines"
"""The last line of an output that was cut."""


def first_lines(output: str, most: int) -> list[str]:
    """Return the first lines of an output, then a line that counts the lines left out.

    The first 2 of 4 lines a to d are `["a", "b", "... 2 more lines"]`.
    """
    lines = output.rstrip("\n").split("\n")
    cut = re.fullmatch(r"\.\.\. ([\d,]{1,15}) more lines", lines[-1])
    shown = lines[:-1] if cut else lines
    more = max(0, len(shown) - most) + (int(cut[1].replace(",", "") or 0) if cut else 0)
    return [*shown[:most], MORE_LINES.format(more)] if more else shown


def split_at_rule(message: str, rule: str) -> tuple[str, str]:
    """Split a check's message into what went wrong, and the rule with the lines to try.

    The lines "expected 2, got 3" and "C1  Return it." become one part each. A picture is shown between the two parts.

    Args:
        message: the message.
        rule: the name of the rule, such as "C1"; the second part begins at its line or at a blank one.
    """
    lines = message.split("\n")
    ends = (number for number, line in enumerate(lines) if not line or (rule and line.startswith(f"{rule}  ")))
    place = next(ends, len(lines))
    return "\n".join(lines[:place]), "\n".join(lines[place:])


@dataclass(frozen=True)
class Score:
    """Hundredths of a point. What is neither earned nor undecided is lost."""

    earned: int
    possible: int
    undecided: int = 0

    def __add__(self, other: Score) -> Score:
        """Return the sum of two scores: of earned, of possible and of undecided points."""
        return Score(self.earned + other.earned, self.possible + other.possible, self.undecided + other.undecided)


@dataclass(frozen=True)
class GradedCheck:
    """A check with its outcome and points, in hundredths.

    Attributes:
        check: the check.
        outcome: its outcome.
        score: the points that count.
        held_back: points that it earned and that do not count: no value was right, or a rule caps the exercise.
        set_by: the reason why staff gave these points in place of what the outcome earns, or "".
    """

    check: Check
    outcome: Outcome
    score: Score
    held_back: int = 0
    set_by: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict that counts.

        If staff set the points, this is passed for full points, else failed. Otherwise it is the outcome's verdict.
        """
        if not self.set_by:
            return self.outcome.verdict
        return Verdict.PASSED if self.score.earned == self.score.possible else Verdict.FAILED

    @property
    def speed(self) -> Sequence[Speed]:
        """The speeds that the student may read; () for a hidden check.

        A ratio could reveal the inputs of a hidden check.
        """
        return self.outcome.speed if self.check.shown else ()

    @property
    def seconds(self) -> float | None:
        """Wall seconds that the check took; None for a hidden check.

        Student code could sleep to reveal the inputs of a hidden check.
        """
        return self.outcome.seconds if self.check.shown else None


@dataclass(frozen=True)
class Mistake:
    """A known mistake that an exercise shows.

    Attributes:
        sentence: the sentence that says what it is; of mistakes that behave alike, the sentences of both.
        functions: the functions to blame, as far as the known wrong answer says it.
        rule: the rule that it breaks, or "".
        checks: ids of the lost checks that it explains.
    """

    sentence: str
    functions: tuple[str, ...] = ()
    rule: str = ""
    checks: tuple[str, ...] = ()

    @property
    def lead(self) -> str:
        """The start of a sentence about the mistake, such as "In `ladder` (rule C3): ".

        It has no rule or no function if that is unknown, and is "" if both are.
        """
        names = " and ".join(f"`{name}`" for name in self.functions)
        if names:
            return f"In {names} (rule {self.rule}): " if self.rule else f"In {names}: "
        return f"Rule {self.rule}: " if self.rule else ""


@dataclass(frozen=True)
class LineComment:
    """A comment of a person about a line of an author's file.

    Attributes:
        line: its number in the file; None if the file has no such line any more, or its author sees no numbers.
        code: the line, without the blanks around it.
        text: the comment.
    """

    line: int | None
    code: str
    text: str


PASSES_HERE = "shown_pass"
"""The state of an exercise whose shown checks pass, while hidden checks that are not here decide the rest."""


@dataclass(frozen=True)
class GradedExercise:
    """One exercise of one submission, graded.

    Attributes:
        exercise: the exercise.
        state: not_started, started, shown_pass or done.
        checks: in the order in which they ran.
        score: the score of all checks, the withheld ones among them as undecided.
        withheld_points: hundredths of a point that withheld checks decide.
        output: the text that student code printed while shown checks ran, and each warning as a line after U+001E.
        mistakes: the known mistakes that lost checks show.
        left_out: the checks that were not to run this time; their points are undecided.
        place: the place of its file in the submission, or None if it has none.
        handed_in: True if there was a file of it at all.
        notes: sentences for staff on where its file came from.
        behaviours: a digest, for each function that lost points like no known wrong answer, of what it does with inputs
            that are the same for everybody; nothing for those where no value shows that.
        held_by: the rule that caps the points of the exercise, or None. If checks hold points back without such a
            rule, no value was right.
        set_by: the reason why staff gave the exercise these points in place of those of its checks, or "".
        comments: the comments of a person on lines of its file.
    """

    exercise: Exercise
    state: str
    checks: tuple[GradedCheck, ...]
    score: Score
    withheld_points: int = 0
    output: str = ""
    mistakes: tuple[Mistake, ...] = ()
    left_out: tuple[GradedCheck, ...] = ()
    place: Place | None = None
    handed_in: bool = True
    notes: tuple[str, ...] = ()
    behaviours: Mapping[str, str] = field(default_factory=dict)
    held_by: str | None = None
    set_by: str = ""
    comments: tuple[LineComment, ...] = ()

    @classmethod
    def of_untouched_starter(cls, exercise: Exercise) -> GradedExercise:
        """Return an exercise graded as an untouched starter, of which no check was run.

        It is not started, and has 0 points.
        """
        hidden = exercise.withheld.points
        return cls(exercise, "not_started", (), Score(0, exercise.points, hidden), hidden)

    def as_not_started(self) -> GradedExercise:
        """Return the same exercise as not started, with 0 points.

        It earns nothing, even if the code of the starter passes a check. The rules that a person grades are left out:
        there is no answer to look at.
        """
        rows = tuple(replace(row, score=replace(row.score, earned=0), held_back=0) for row in self.checks)
        by_staff = [row for row in rows if row.check.id in self.exercise.staff]
        rows = tuple(row for row in rows if row not in by_staff)
        undecided = self.score.undecided - sum(row.score.undecided for row in by_staff)
        score = Score(0, self.score.possible, undecided)
        return replace(self, checks=rows, score=score, state="not_started", held_by=None)

    @property
    def passes_here(self) -> bool:
        """Whether all checks that can run here passed."""
        return self.state in ("done", PASSES_HERE)

    @property
    def held_back(self) -> int:
        """The hundredths of a point that checks earned and that do not count."""
        return sum(row.held_back for row in self.checks)

    @property
    def left_out_score(self) -> Score:
        """The score of the checks that this run left out: all of its points are undecided."""
        return sum((row.score for row in self.left_out), Score(0, 0))


@dataclass(frozen=True)
class Environment:
    """The machine that a report was made on, and how the run was set up; the names are those of the report.

    Attributes:
        python: version.
        torch: version.
        numpy: version.
        os: system, release and architecture.
        device: the device for checks of devices: "cuda", or "cpu", where an accelerator is simulated.
        threads: the number of threads of each worker.
        seed: the seed of all random inputs; None where it is a secret, which no author may get.
        start: the way in which workers were started.
        confinement: the level that was reached; None if no student code was run.
        grader: version of this package.
    """

    python: str
    torch: str
    numpy: str
    os: str
    device: str
    threads: int
    seed: int | None
    start: str
    confinement: str | None
    grader: str


@dataclass(frozen=True)
class FinalScore:
    """A score after the course's policy and staff's decisions; in hundredths of a point.

    Attributes:
        raw: the points that were earned, without extra credit and what staff changed.
        late_days: the number of days that it was late; None if nothing says it.
        penalty: the points that late work costs.
        override: the points that staff's decisions add to what was earned, or take from it.
        bonus: earned as extra credit.
        final: the points that count; None while points are undecided.
        possible: full marks, without extra credit and what is dropped.
        grace_days: the number of these days that cost nothing.
        explained: all of it in one line.
        extra: ids of the exercises whose points are extra credit.
        dropped: ids of those that do not count.
    """

    raw: int
    late_days: int | None
    penalty: int
    override: int
    bonus: int
    final: int | None
    possible: int
    grace_days: int
    explained: str
    extra: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """One submission, graded; of a group, `author` names the group and `authors` are those in it."""

    course: str
    handin: str | None
    author: str
    digest: str
    graded_at: str
    exercises: tuple[GradedExercise, ...]
    environment: Environment
    authors: tuple[str, ...] = ()
    policy: FinalScore | None = None

    @property
    def score(self) -> Score:
        """The score of all exercises together."""
        return sum((graded.score for graded in self.exercises), Score(0, 0))

    @property
    def final_score(self) -> Score:
        """The score after extra credit, dropped exercises, late days and staff's decisions."""
        return score_after_policy({graded.exercise.id: graded.score for graded in self.exercises}, self.policy)


def score_after_policy(scores: Mapping[str, Score], policy: FinalScore | None) -> Score:
    """Return the score that counts, after the rules of the hand-in and staff's decisions.

    Dropped exercises, extra credit and late days change it. Extra credit adds to earned points and not to possible
    ones: 10 of 10 points and 2 as extra credit are 12 of 10. If every exercise of the hand-in is extra credit, their
    points are the possible ones.

    Args:
        scores: the scores of the exercises, by id.
        policy: the final score by the hand-in's rules; None if all exercises count as they are.
    """
    if policy is None:
        return sum(scores.values(), Score(0, 0))
    left = {id: score for id, score in scores.items() if id not in policy.dropped}
    counts = [score for id, score in left.items() if id not in policy.extra] or list(left.values())
    whole = sum(counts, Score(0, 0))
    earned = policy.raw + policy.override + policy.bonus - policy.penalty if policy.final is None else policy.final
    return Score(max(0, earned), policy.possible or whole.possible, whole.undecided)
