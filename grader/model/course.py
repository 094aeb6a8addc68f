"""A course and what is in it. Frozen data, standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from grader.model.picture import Picture


@dataclass(frozen=True)
class Limits:
    """The limits of a submission.

    Attributes:
        load_s: CPU seconds to import the student's module.
        call_s: CPU seconds of one call.
        check_s: seconds of a check's own code, without the calls.
        exercise_s: wall seconds for all checks of an exercise; the host ends what takes longer.
        wall_factor: wall seconds allowed for each CPU second: loose, so that a busy machine ends nothing.
        memory_mb: MiB of memory of one process beyond a warm interpreter.
        output_kb: KiB of prints; the worker is ended beyond that.
        shown_output_kb: KiB of prints kept for the report.
        file_mb: MiB of any one file.
        processes: the number of processes that a submission may be; with 1 it cannot start any.
    """

    load_s: float = 10.0
    call_s: float = 5.0
    check_s: float = 20.0
    exercise_s: float = 240.0
    wall_factor: float = 4.0
    memory_mb: int = 2048
    output_kb: int = 16 * 1024
    shown_output_kb: int = 16
    file_mb: int = 64
    processes: int = 1


@dataclass(frozen=True)
class Withheld:
    """Hidden checks that this copy of the course does not have.

    Attributes:
        checks: the number of these checks.
        shares: the sum of their shares of the exercise's points.
        points: hundredths of a point that come of that, for who has not read the shown checks.
    """

    checks: int = 0
    shares: int = 0
    points: int = 0


@dataclass(frozen=True)
class PlannedExercise:
    """The facts of an exercise that the check process needs.

    Attributes:
        id: its folder's name.
        shown_checks: the file of shown checks, or None.
        hidden_checks: the file of hidden checks, or None if this copy has none.
        probes: probe files; their source is sent to the worker.
        reference: the reference solution, or None if this copy has none.
        contract: contract lines by name.
        limits: the limits on what a submission may use.
        data: files that checks, references and students read, by their paths from the exercise's folder.
        shared: code of staff's that checks and references import, by its path from their folder of solutions.
        without: packages that the exercise is solved without; if there are any, its workers have the standard library
            alone.
        lints: True if the person who grades can change the checks, and reads which of their lines have no effect.
    """

    id: str
    shown_checks: Path | None
    hidden_checks: Path | None
    probes: tuple[Path, ...]
    reference: Path | None
    contract: Mapping[str, str]
    limits: Limits
    data: Mapping[str, Path] = field(default_factory=dict)
    shared: Mapping[str, Path] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    lints: bool = True

    @classmethod
    def of(cls, exercise: Exercise) -> PlannedExercise:
        """Return the facts of an exercise that the check process needs.

        Texts, hints and points are left out.
        """
        return cls(**{name: getattr(exercise, name) for name in cls.__dataclass_fields__})

    @property
    def files(self) -> tuple[Path | None, ...]:
        """The files of the course that a verdict depends on.

        None stands for a file that this copy of the course does not have.
        """
        beside = *self.data.values(), *self.shared.values()
        return self.shown_checks, self.hidden_checks, *self.probes, self.reference, *beside


WHOLE = "staff"
"""The name under which a person gives all points of an exercise, as a check's id; no rule has it."""


@dataclass(frozen=True)
class RubricLine:
    """A sentence that a person may say of a rule that they grade, and the hundredths of a point that it then has."""

    points: int
    says: str


@dataclass(frozen=True, kw_only=True)
class Exercise(PlannedExercise):
    """One task of a course.

    Attributes:
        number: such as "02-1".
        title: the title for people.
        task: the text of the task, which is the docstring of the exercise module.
        module: the id of its module.
        kind: predict, implement, fix, vectorise or speed.
        difficulty: 1 to 4.
        points: hundredths of a point.
        topics: ids in topics.yaml.
        needs: ids of the exercises that should come before.
        minutes: the minutes that a student takes, about; None if nobody has said.
        hints: the three hints.
        folder: the folder that a student sees.
        closed: folders of courses that no student code may see.
        starter: the exercise module as students get it.
        starter_digest: digest of the untouched starter; "" if exercise.yaml has none.
        wrong: known wrong answers: files, and entries of a file as FILE/NAME.
        right: files of other right answers.
        withheld: hidden checks that this copy does not have.
        counters: the counts of the reference, by shown check, in a copy that does not have it.
        mistakes: known mistakes, sealed, in a copy that has no wrong answers; else None.
        values: ids of checks and names of rules that show that some value was right; none for all checks of category
            correctness on rules without a cap. While none of them passes, no check earns anything.
        example: a picture of the example in the task, or None.
        par: the operations of the shortest known right answer, in an exercise for golf; else None.
        caps: the most hundredths of a point that the exercise earns while a check is lost, by rule or by check.
        void: ids of checks whose points everybody gets who handed in an answer.
        staff: the hundredths of a point that a person gives, by rule; where a person gives all, under `WHOLE`.
        rubrics: the sentences that this person may say of such a rule, with their points, by rule.
    """

    number: str
    title: str
    task: str
    module: str
    kind: str
    difficulty: int
    points: int
    topics: tuple[str, ...]
    needs: tuple[str, ...]
    minutes: int | None
    hints: tuple[str, ...]
    folder: Path
    closed: tuple[Path, ...]
    starter: Path
    starter_digest: str
    wrong: tuple[Path, ...]
    right: tuple[Path, ...]
    withheld: Withheld
    counters: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    mistakes: Path | None = None
    values: tuple[str, ...] = ()
    caps: Mapping[str, int] = field(default_factory=dict)
    void: tuple[str, ...] = ()
    staff: Mapping[str, int] = field(default_factory=dict)
    rubrics: Mapping[str, tuple[RubricLine, ...]] = field(default_factory=dict)
    example: Picture | None = None
    par: int | None = None

    @property
    def is_by_staff(self) -> bool:
        """Whether a person gives all points of the exercise, so that it has no checks."""
        return WHOLE in self.staff

    @property
    def file_name(self) -> str:
        """The file name of the exercise module, the same for every author."""
        return f"{self.id}.py"

    @property
    def path(self) -> Path:
        """The path of the exercise module from the course's root."""
        return Path(*self.folder.parts[-3:], self.file_name)


@dataclass(frozen=True)
class Module:
    """A chapter of a course."""

    id: str
    title: str
    exercises: tuple[Exercise, ...]


@dataclass(frozen=True)
class HandIn:
    """A named set of exercises with a due date, a weight and an LMS column.

    Attributes:
        id: as it is typed.
        title: for people.
        exercises: their ids.
        due: the due date, with a time zone.
        weight: in the term.
        column: its title in the gradebook of an LMS.
        extra: the exercises whose points are extra credit.
        drop: the number of an author's lowest exercises that do not count.
        extensions: other due dates, by author.
        late_days: the days late, by author, where nothing else says it.
    """

    id: str
    title: str
    exercises: tuple[str, ...]
    due: datetime | None
    weight: float
    column: str
    extra: tuple[str, ...] = ()
    drop: int = 0
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    late_days: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Policy:
    """The costs of late work, and what does not count over the term.

    Attributes:
        percent_a_day: hundredths of a percent of the points, for each day late.
        cap_percent: the most that late work costs, likewise.
        slack_minutes: the minutes after the due date in which work is on time.
        grace_days: days late that cost nothing, over the whole term.
        drop: the number of an author's lowest hand-ins that do not count.
    """

    percent_a_day: int = 0
    cap_percent: int = 100_00
    slack_minutes: int = 0
    grace_days: int = 0
    drop: int = 0


@dataclass(frozen=True)
class Install:
    """The source from which the grader of a course is installed: `address`, `wheel` or `index`; the other two are "".

    Attributes:
        address: an address for git, such as git+https://HOST/OWNER/NAME@TAG, or the https address of a wheel.
        wheel: the path of a wheel from the course's folder, with slashes.
        index: an index that has the grader and all that it needs.
        requirement: the required version of the grader, such as tensorgrade>=0.1.
    """

    address: str = ""
    wheel: str = ""
    index: str = ""
    requirement: str = "tensorgrade"


@dataclass(frozen=True)
class Broken:
    """An exercise that course.yaml names and that cannot be used.

    Attributes:
        id: its name there.
        module: the id of its module; "" where only a hand-in names it.
        problems: the reasons, each a sentence with file and remedy.
    """

    id: str
    module: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Course:
    """A folder with a course.yaml.

    Attributes:
        title: for people.
        root: the folder.
        modules: the modules, with the exercises that can be used.
        handins: they may name exercises that cannot.
        broken: the exercises that cannot.
        attempts: the one of several files of an exercise that counts: "latest" or "best".
        policy: the policy for late work.
        timezone: the time zone of times that name none; "" if course.yaml has no such time.
        install: the source from which students and jobs install the grader; None if course.yaml does not name it.
    """

    title: str
    root: Path
    modules: tuple[Module, ...]
    handins: tuple[HandIn, ...]
    broken: tuple[Broken, ...] = ()
    attempts: str = "latest"
    policy: Policy = Policy()
    timezone: str = ""
    install: Install | None = None

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """The exercises of all modules, in order."""
        return tuple(exercise for module in self.modules for exercise in module.exercises)

    def handin(self, id: str | None) -> HandIn | None:
        """Return the hand-in with an id; None if the course has no such hand-in."""
        return next((handin for handin in self.handins if handin.id == id), None)
