"""`grade drill`: short questions of a course, whose answers come from running the lines on the student's PyTorch.

A module's `drill.yaml` has them. Lines are run in a worker, as all that a course brings along. A question shows some
and asks what the last one shows, or whether it changes a name. What was answered wrong comes again, in the same drill
and in the next one.
"""

from __future__ import annotations

import hashlib
import json
import random
import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.course.files import DrillFile, read_file
from grader.course.layout import drill_answers_path, drill_of
from grader.model import Course, Exercise
from grader.model.errors import CourseError, FormatError
from grader.model.files import from_json, to_json, write_whole
from grader.student.folder import make_own_folder, read_progress

YES, NO = "yes", "no"
RAISES = "raises "
_LEAST_AHEAD = 2
"""So many other questions come before one that was answered wrong comes again, if there are as many."""

_LAST_WORDS = 300
_ASKED = "What does the last line show?"
_FAULTS = (NameError, SyntaxError)
"""What a line raises only if its author mistyped it."""


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        module: the id of its module.
        exercise: the id of the exercise that teaches it; "" for none.
        place: the place in the file, for messages.
        start: lines that are run first and not shown.
        lines: the lines of code that are shown and run.
        asked: the words of the question.
        watch: the name that the last line may change; "" where the question is what the last line shows.
        wrong: other answers.
        why: the reason, in a sentence or two.
        since: the version from which on the answer is another one, or "".
        holds: the expressions that must be true as well for the reason.
    """

    module: str
    exercise: str
    place: str
    start: str
    lines: tuple[str, ...]
    asked: str
    watch: str
    wrong: tuple[str, ...]
    why: str
    since: str = ""
    holds: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Return a digest of the lines, by which answers are saved.

        If the lines change, it counts as another question.
        """
        return hashlib.sha256("\n".join(self.lines).encode()).hexdigest()[:12]


@dataclass(frozen=True)
class DrillAnswer:
    """The answer to a question, such as `DrillAnswer("yes", ("yes", "no"), "tensor([2])")`.

    Attributes:
        right: the right one of the choices.
        choices: all of them.
        after: the watched name as Python prints it in the end; "" where the question is what the last line shows.
    """

    right: str
    choices: tuple[str, ...]
    after: str = ""


def read_questions(course: Course, exercises: Collection[str] | None = None) -> list[Question]:
    """Return the questions of a course, or of some of its exercises.

    Args:
        course: the course.
        exercises: the ids of the exercises whose questions are returned; None for all. If all exercises of a module are
            listed, questions on the module as a whole are returned, too.

    Raises:
        CourseError: the exercises have no questions, or a file of questions is invalid.
    """
    found: list[Question] = []
    there = [module for module in course.modules if (course.root / drill_of(module.id)).is_file()]
    for module in there:
        path = drill_of(module.id)
        file = read_file(course.root / path, path.as_posix(), DrillFile)
        ids = {exercise.id for exercise in module.exercises}
        whole = exercises is None or ids <= {*exercises}
        questions = _questions_of_file(file, module.id, path.as_posix())
        found += [each for each in questions if whole or each.exercise in (exercises or ())]
    if not found:
        names = ", ".join(module.id for module in there) or "no module"
        raise CourseError(f"there are no questions on that; these modules have some: {names}")
    return found


def _questions_of_file(file: DrillFile, module: str, where: str) -> list[Question]:
    """Return the questions of a module's drill.yaml.

    Those of its key `rounds` come first, then those of its key `questions`, which have choices of their own.
    """
    rounds = [
        Question(
            module=module,
            exercise=file.exercise or "",
            place=f"{where}: round {number}",
            start=file.start,
            lines=(*file.given.splitlines(), *entry.lines),
            asked=file.question,
            watch=file.watch or "",
            wrong=(),
            why=entry.why,
        )
        for number, entry in enumerate(file.rounds, 1)
    ]
    shown = [
        Question(
            module=module,
            exercise=entry.exercise or "",
            place=f"{where}: question {number}",
            start=file.start,
            lines=tuple(entry.lines),
            asked=_ASKED,
            watch="",
            wrong=tuple(entry.wrong),
            why=entry.why,
            since=entry.since,
            holds=tuple(entry.holds),
        )
        for number, entry in enumerate(file.questions, 1)
    ]
    return [*rounds, *shown]


def answer_in_worker(run: Callable[[str], str], question: Question) -> DrillAnswer:
    """Return the answer to a question by running its lines in a worker.

    Args:
        run: a function that runs lines in a worker, and returns what they print.
        question: the question.

    Raises:
        CourseError: a line of the question cannot be run.
    """
    printed = run(
        "import json\nfrom grader.model.errors import CourseError\n"
        "from grader.student.games.drilling import Question, answer\n"
        f"try:\n    found = answer({question!r})\n    said = [found.right, found.choices, found.after]\n"
        "except CourseError as error:\n    said = str(error)\nprint(json.dumps(said))"
    ).strip()
    try:
        said = json.loads(printed.split("\n")[-1])
    except ValueError:
        raise CourseError(f"{question.place} cannot be run: {printed[-_LAST_WORDS:]}") from None
    if isinstance(said, str):
        raise CourseError(said)
    right, choices, after = said
    return DrillAnswer(str(right), tuple(map(str, choices)), str(after))


def exercise_with_torch(course: Course) -> Exercise:
    """Return the first exercise whose workers have PyTorch.

    The lines of all questions can run in such a worker.

    Raises:
        CourseError: the course has none.
    """
    for exercise in course.exercises:
        if not exercise.without:
            return exercise
    raise CourseError("this course has no exercise whose code may use PyTorch, so no line can be run")


def answer(question: Question) -> DrillAnswer:
    """Run the lines of a question in this process, and return the answer.

    This process must be a worker.

    Raises:
        CourseError: a line cannot be run.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the result counts
        return _answer_of_change(question) if question.watch else _answer_of_value(question)


def _answer_of_change(question: Question) -> DrillAnswer:
    names: dict[str, Any] = {}
    *first, last = question.lines
    try:
        exec("\n".join([question.start, *first]), names)  # noqa: S102  the course's own lines
        before = repr(names[question.watch])
        exec(last, names)  # noqa: S102
    except Exception as error:
        raise _question_error(question, error) from None
    after = repr(names[question.watch])
    return DrillAnswer(YES if before != after else NO, (YES, NO), after)


def _answer_of_value(question: Question) -> DrillAnswer:
    """Run the lines of a question in this process, and return what the last line shows.

    The right choice is the value of the last line, such as "tensor(2.)", or the exception that a line raises, as in
    "raises ValueError".
    """
    names: dict[str, Any] = {}
    *first, last = question.lines
    try:
        exec(question.start, names)  # noqa: S102
        for line in first:
            exec(line, names)  # noqa: S102
        right = repr(eval(last, names))  # noqa: S307
    except _FAULTS as error:
        raise _question_error(question, error) from None
    except Exception as error:
        right = f"{RAISES}{type(error).__name__.lstrip('_')}"  # such as torch.linalg.LinAlgError, a name of C++
    return DrillAnswer(right, tuple(dict.fromkeys([*question.wrong, right])))


def _question_error(question: Question, error: Exception) -> CourseError:
    return CourseError(f"{question.place} raises {type(error).__name__}: {error}")


# -- which questions


@dataclass(frozen=True)
class _Saved:
    version: int
    wrong: tuple[str, ...] = ()
    right: tuple[str, ...] = ()


class AnsweredQuestions:
    """The questions that were answered, in a file of the student's folder.

    Attributes:
        problem: a sentence on why earlier answers are not known, or why these are not saved; "" if all is well.
    """

    def __init__(self, course: Course) -> None:
        self._course, self.problem = course, ""
        progress = read_progress(course)
        self._begun = {each.module for each in course.exercises if progress.of(each.id).state != "not_started"}
        self._path = drill_answers_path(course)
        self._right: dict[str, bool] = {}
        try:
            saved = from_json(_Saved, self._path.read_bytes()) if self._path.is_file() else _Saved(1)
        except OSError as error:
            self.problem = f"your earlier answers cannot be read: {error.strerror} ({self._shown_path})"
        except FormatError:
            self.problem = f"{self._shown_path} was damaged, so your earlier answers are not known"
        else:
            self._right = {**dict.fromkeys(saved.right, True), **dict.fromkeys(saved.wrong, False)}

    @property
    def _shown_path(self) -> str:
        return self._path.relative_to(self._course.root).as_posix()

    def rank(self, question: Question) -> int:
        """Return the rank of a question; a drill asks those of low rank first.

        It is 0 after a wrong answer, 1 or 2 for a new question, and 3 after a right answer. A new question has rank 1
        if the student has begun its module: the others may ask what is not taught yet.
        """
        right = self._right.get(question.id)
        if right is None:
            return 1 if question.module in self._begun else 2
        return 3 if right else 0

    def save_answer(self, question: Question, *, right: bool) -> None:
        """Save whether a question was answered right at the first try."""
        self._right[question.id] = right
        saved = _Saved(1, *(tuple(id for id, was in self._right.items() if was is value) for value in (False, True)))
        try:
            make_own_folder(self._course.root)
            write_whole(self._path, to_json(saved))
        except OSError as error:
            self.problem = f"your answers are not saved: {error.strerror} ({self._shown_path})"


def choose_questions(
    questions: Sequence[Question], count: int, seed: int | None, rank: Callable[[Question], int]
) -> list[Question]:
    """Return the questions that a drill asks: the `count` with the lowest ranks.

    They are in the order of their ranks. The order of equal ranks is random.

    Args:
        questions: all questions.
        count: the number of questions to choose.
        seed: the seed of the choice; None for another choice each time.
        rank: a function that returns the rank of a question; low ranks come first.
    """
    mixed = random.Random(seed).sample(questions, len(questions))  # noqa: S311  a game
    return sorted(mixed, key=rank)[:count]


@dataclass
class Drill:
    """The questions of a drill that are left, and how the others were answered.

    A question that was answered wrong comes again after some others, until its answer is right.

    Attributes:
        left: the next questions, in their order.
        first: the number of questions that were answered right at the first try.
        answered: the number of different questions that were answered.
        longest: the longest row of right answers.
    """

    left: list[Question]
    first: int = 0
    answered: int = 0
    longest: int = 0
    _row: int = 0
    _again: set[str] = field(default_factory=set)

    def record_answer(self, *, right: bool) -> bool:
        """Record the answer to the first question in `left`, and remove the question.

        After a wrong answer it is put back into `left`, behind the next two questions.

        Args:
            right: True if the answer is right.

        Returns:
            True if this is the first answer to the question in this drill.
        """
        question = self.left.pop(0)
        is_first = question.id not in self._again
        self.answered += is_first
        self.first += is_first and right
        self._row = self._row + 1 if right else 0
        self.longest = max(self.longest, self._row)
        if not right:
            self._again.add(question.id)
            self.left.insert(min(_LEAST_AHEAD, len(self.left)), question)
        return is_first
