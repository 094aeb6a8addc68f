"""Which files of an exercise are run, with which seeds: its starter, its reference, right variants, wrong answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.author.proof import Proof
from grader.course.answers import UNWRITTEN, Answer, as_submitted, read_answer, submission_of
from grader.course.layout import Places
from grader.model import Check, Exercise, Submission
from grader.model.errors import CourseError

SEEDS = 20
"""How many seeds a right answer must pass with. Of these, and of a wrong answer's, the second half while all cores are
busy: no verdict may hang on the load."""

# Right answers must pass with every seed, so they get many. A wrong one is caught or not much sooner.
WRONG_SEEDS = 5
_LEAST_WRONG, _LEAST_RIGHT = 2, 1


@dataclass(frozen=True)
class Case:
    """One file to run.

    Attributes:
        exercise: whose file it is.
        kind: starter, reference, right, wrong, odd or constant.
        answer: the file.
        seed: of the run.
        busy: whether all cores are, meanwhile.
        odd: of an odd answer, which it is.
        function: of an odd answer, which function gives it.
    """

    exercise: Exercise
    kind: str
    answer: Answer
    seed: int
    busy: bool = False
    odd: str = ""
    function: str = ""

    def submission(self) -> Submission:
        """The file as if somebody had handed it in."""
        return submission_of(
            self.kind, self.exercise, self.answer.path, as_submitted(self.exercise, self.answer.source)
        )


def cases_of(proof: Proof, checks: Sequence[Check], seeds: int) -> Iterator[Case]:
    """All runs that prove an exercise; what keeps a file from being run is a problem.

    Args:
        proof: of the exercise.
        checks: all that it has.
        seeds: how many seeds a right answer must pass with.
    """
    exercise, places = proof.exercise, Places.of(proof.exercise)
    if exercise.starter.is_file():
        yield Case(exercise, "starter", read_answer(exercise, exercise.starter), 0)
    if len(exercise.right) < _LEAST_RIGHT:
        where = places.right.as_posix()
        proof.problems.append(f"{where}: there is no other right answer; write at least {_LEAST_RIGHT}")
    if len(exercise.wrong) < _LEAST_WRONG:
        where = places.wrong.as_posix()
        proof.problems.append(f"{where}: there are {len(exercise.wrong)} wrong answers; write at least {_LEAST_WRONG}")
    # The reference is proved like any other right answer: it is one more file that must pass.
    for path in ([exercise.reference] if exercise.reference else []) + list(exercise.right):
        kind = "reference" if path == exercise.reference else "right"
        answer = read_answer(exercise, path)
        yield from (Case(exercise, kind, answer, seed, busy) for seed, busy in _seeds(seeds))
    ids = [check.id for check in checks]
    for path in exercise.wrong:
        try:
            answer = read_answer(exercise, path)
        # The others are still run: one file that cannot be read hides no other problem.
        except CourseError as error:
            proof.problems += [f"{places.wrong.as_posix()}/{problem}" for problem in error.problems]
            continue
        if problem := _problem(answer, ids):
            proof.problems.append(f"{(places.wrong / path.name).as_posix()}: {problem}")
        else:
            few = _seeds(min(seeds, WRONG_SEEDS))
            yield from (Case(exercise, "wrong", answer, seed, busy) for seed, busy in few)


def wrong_answers(exercise: Exercise) -> Iterator[Answer]:
    """The known wrong answers of an exercise.

    Raises:
        CourseError: one of them cannot be read.
    """
    return (read_answer(exercise, path) for path in exercise.wrong)


def _problem(answer: Answer, checks: Sequence[str]) -> str:
    """Why a wrong answer cannot prove anything, or ""."""
    if not answer.caught_by or not answer.sentence:
        return (
            "its docstring must end with  caught by: <check>  and begin with the sentence that a student is told, "
            f"which is not {UNWRITTEN}"
        )
    if answer.caught_by not in checks:
        return f"caught by: there is no check {answer.caught_by!r}; the checks are {', '.join(checks)}"
    return ""


def _seeds(count: int) -> Iterator[tuple[int, bool]]:
    """Seeds, and whether all cores are busy then: in the second half."""
    return ((seed, seed >= (count + 1) // 2) for seed in range(count))
