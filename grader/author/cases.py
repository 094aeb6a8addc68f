"""Which files of an exercise are run, with which seeds: its own, and answers that no author thinks of.

Of its own, the starter, the reference, right variants and wrong answers. The others are one fixed set for every
exercise. *Unusual* answers are what no right answer gives, or hardly any, tried on every function that a rule names:
none may break a check, and none may get full marks but those of `MAY_BE_RIGHT`, which are for the author to decide.
*Constant* answers return the same for all arguments: none may earn a point.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.answers import UNWRITTEN, Answer, as_submitted, read_answer, submission_of
from grader.course.files import suggestion
from grader.course.layout import Places, is_entry
from grader.grading.plan import RunPlan, Work
from grader.lint.sizes import sizes_in
from grader.model import Check, Course, Exercise, Submission
from grader.model.errors import CourseError
from grader.model.messages import Setup

SEEDS = 20
"""How many seeds a right answer must pass with. Of these, and of a wrong answer's, the second half while all cores are
busy: no verdict may depend on the load."""

# Right answers must pass with every seed, so they get many. A wrong one is caught or not much sooner.
_WRONG_SEEDS = 5
_LEAST_WRONG = 2

UNUSUAL = {
    "None": "None",
    "a_text": "'text'",
    "an_empty_list": "[]",
    "a_class": "dict",
    "a_generator": "(number for number in range(3))",
    "a_function": "lambda *values: values",
    "another_shape": "torch.zeros(7, 1, 7)",
    "no_dim": "torch.zeros(())",
    "an_empty_tensor": "torch.empty(0)",
    "not_a_number": "float('nan')",
    "a_tensor_of_nan": "torch.full((2, 2), float('nan'))",
    "complex_numbers": "torch.full((2,), 1j)",
    "a_narrow_dtype": "torch.zeros(2, dtype=torch.float8_e4m3fn)",
    "a_wide_expanded_tensor": "torch.zeros(1).expand(1000, 1000)",
    "requires_grad": "torch.zeros(2, requires_grad=True)",
    "an_array": "np.zeros(2)",
    "zeros": "_each(right(*args, **named), lambda value: value * 0)",
    "two_percent_more": "_each(right(*args, **named), lambda value: value * 1.02)",
    "arguments_overwritten": "_each(_overwriting(args, named), lambda value: value * 0)",
    "an_overwritten_argument": "_first((_overwriting(args, named, 7), args)[1], named)",
    "the_argument": "_first(args, named)",
    "right_and_overwrites": "_overwriting(args, named)",
    "right_in_float64": "_each(right(*args, **named), _wide, (torch.Tensor, np.ndarray))",
    "detached": "_each(right(*args, **named), torch.Tensor.detach, (torch.Tensor,))",
    "right_with_one_more_dim": "_every(right(*args, **named), lambda value: value[None])",
    "right_and_expanded": "_every(right(*args, **named), _expanded)",
    "right_as_a_list": "_every(right(*args, **named), lambda value: value.tolist())",
    "right_as_an_array": "_every(right(*args, **named), _as_array)",
    "right_and_transposed": "_every(right(*args, **named), _transposed)",
    "right_for_shown_sizes": "_for_sizes(@sizes@, args, named)",
}
"""What each gives, as an expression over `args`, `named` and the reference's function `right`."""

MAY_BE_RIGHT = {
    "the_argument": "a result of its own",
    "right_and_overwrites": "arguments that stay as they are",
    "right_in_float64": "dtypes",
    "detached": "gradients",
    "right_as_a_list": "what kind of object comes back",
    "right_as_an_array": "what kind of object comes back",
    "right_and_transposed": "results that are not symmetric",
    "right_for_shown_sizes": "other sizes than those of the shown checks",
}
"""Unusual answers that are right where no rule speaks of this."""

CONSTANTS = {
    "nothing": "return None",
    "zero": "return 0",
    "minus one": "return -1",
    "False": "return False",
    "True": "return True",
    "an empty tuple": "return ()",
    "an empty list": "return []",
    "an exception": "raise ValueError",
    "a zero of the argument": "return args[0].new_zeros(()) * args[0].sum()",
    "a view of the argument, set to 0": "return args[0].detach() * 0",
}
"""What each does, as a statement over `args`; no import, as a rule may forbid it."""

CONSTANT_BEGINS = "every function gives "
"""With this the name of a constant answer begins."""


@dataclass(frozen=True, eq=False)
class AnswerRun:
    """One answer that is run with one seed.

    Attributes:
        exercise: the exercise whose file it is.
        kind: starter, reference, right, wrong, unusual or constant.
        answer: the file.
        seed: the seed of the run.
        busy: True if all cores are kept busy meanwhile.
        unusual_result: the name of what an unusual answer returns: a key of `UNUSUAL`.
        function: the function of an unusual answer that returns it.
    """

    exercise: Exercise
    kind: str
    answer: Answer
    seed: int
    busy: bool = False
    unusual_result: str = ""
    function: str = ""

    def submission(self) -> Submission:
        """Return a submission with the file, as if an author had handed it in."""
        author = f"{self.kind} while busy" if self.busy else self.kind
        files = as_submitted(self.exercise, self.answer.source)
        return submission_of(author, self.exercise, self.answer.path, files)

    def work(self, course: Course, setup: Setup, *, with_tries: bool = False) -> Work:
        """Return what the scheduler needs to grade this answer with this seed.

        Args:
            course: the course of the exercise.
            setup: the set-up of the run; its seed is replaced by that of the case.
            with_tries: True if failing checks also return lines that a student can type to see the failure.
        """
        exercise = replace(self.exercise, void=())  # a void check must still catch what it is for
        plan = RunPlan(course, [exercise], replace(setup, seed=self.seed), runs_untouched=True, with_tries=with_tries)
        return Work(plan, exercise, self.submission())

    @property
    def is_from_file(self) -> bool:
        """Whether the answer is a file of the course, such as a right or a wrong answer.

        It is False for the unusual and constant answers, which this module generates.
        """
        return self.kind not in ("unusual", "constant")


def exercises_with(exercises: Sequence[Exercise], answers: Sequence[str]) -> list[Exercise]:
    """Return the exercises that have at least one of the named answers.

    Args:
        exercises: the exercises.
        answers: the names, such as `triples` for `wrong/triples.py`, `zeros`, or `double gives zeros`.

    Raises:
        CourseError: an answer is in none of the exercises.
    """
    names = {exercise.id: {*answer_names(exercise), *_generated_names(exercise)} for exercise in exercises}
    near = list(dict.fromkeys(name for exercise in exercises for name in answer_names(exercise)))
    known = set[str]().union(*names.values())
    if unknown := [answer for answer in dict.fromkeys(answers) if answer not in known]:
        one = len(exercises) == 1
        has = f"{exercises[0].number} {exercises[0].id} has" if one else "these exercises have"
        there = f"; its own are in {Places.of(exercises[0]).staff.as_posix()}" if one else ""
        raise CourseError(
            *(f"--answer: {has} no answer {name!r}{suggestion(name, near, most=3) or there}" for name in unknown)
        )
    return [exercise for exercise in exercises if not names[exercise.id].isdisjoint(answers)]


def answer_names(exercise: Exercise) -> list[str]:
    """Return the names of the answers of an exercise that authors type.

    They are those of its wrong and right answers, such as `triples`, then `starter` and `reference`, then those of the
    unusual answers, such as `zeros`.
    """
    own = [path.name.removesuffix(".py") for path in (*exercise.wrong, *exercise.right)]
    return [*own, "starter", "reference", *UNUSUAL]


def _generated_names(exercise: Exercise) -> Iterator[str]:
    """Yield the whole names of unusual and constant answers, by which messages name them.

    They are, for example, "double gives zeros" and "every function gives zero".
    """
    yield from (f"{CONSTANT_BEGINS}{gives}" for gives in CONSTANTS)
    with suppress(SyntaxError, OSError, ValueError):  # reported by `cases_of`
        yield from (f"{name} gives {gives}" for name in _functions_in_rules(exercise) for gives in UNUSUAL)


def cases_of(
    exercise: Exercise, checks: Sequence[Check], seeds: int, problems: list[str], only: Collection[str] = ()
) -> list[AnswerRun]:
    """Return all runs, called cases, that are needed to verify an exercise.

    A case is one answer that is run with one seed. The list is empty if the reference is not valid Python.

    Args:
        exercise: the exercise.
        checks: all checks of the exercise.
        seeds: the number of seeds with which a right answer must pass.
        problems: a list to which a sentence for each problem is added, such as a file that cannot be read.
        only: the names of the answers that are run, as `exercises_with` knows them; if it is empty, all answers are
            run. Otherwise problems of the other answers, and of how many there are, are not added.
    """
    staff = Places.of(exercise).staff.as_posix()
    try:
        if exercise.reference is not None:  # otherwise each run would say that it is at fault itself
            ast.parse(exercise.reference.read_bytes())
        known = [*_right_cases(exercise, seeds, problems, only), *_wrong_cases(exercise, checks, seeds, problems, only)]
        generated = [*unusual_cases(exercise, [] if only else problems), *constant_cases(exercise)]
        return known + [
            case for case in generated if not only or not {case.unusual_result, case.answer.path.name}.isdisjoint(only)
        ]
    except CourseError as error:
        problems += [f"{staff}/{problem}" for problem in error.problems]
    except SyntaxError as error:
        where = f"{staff}/{exercise.file_name}: line {error.lineno}"
        problems.append(f"{where}: the reference is not valid Python ({error.msg}); fix it")
    except (OSError, ValueError) as error:
        problems.append(f"{staff}: a file cannot be read ({error}); fix it")
    return []


def _is_chosen(path: Path, only: Collection[str]) -> bool:
    """Return whether a known answer is run: its name is in `only`, or `only` is empty."""
    return not only or path.name.removesuffix(".py") in only


def _right_cases(exercise: Exercise, seeds: int, problems: list[str], only: Collection[str]) -> Iterator[AnswerRun]:
    """Yield the cases of the starter and of the right answers, the reference among them.

    The starter has one case. The reference and each other right answer have a case for each seed. A sentence is added
    to `problems` if the reference is the only right answer.

    Args:
        exercise: the exercise.
        seeds: the number of seeds.
        problems: the list of problems.
        only: the names of the answers that are run; if it is empty, all are run.
    """
    if exercise.starter.is_file() and (not only or "starter" in only):
        yield AnswerRun(exercise, "starter", read_answer(exercise, exercise.starter), 0)
    if not exercise.right and not only:
        where = Places.of(exercise).right_entries.as_posix()
        problems.append(f"{where}: there is no other right answer; write at least 1")
    if exercise.reference is not None and (not only or "reference" in only):
        yield from _cases_for_seeds(exercise, "reference", read_answer(exercise, exercise.reference), seeds)
    for path in (path for path in exercise.right if _is_chosen(path, only)):
        yield from _cases_for_seeds(exercise, "right", read_answer(exercise, path), seeds)


def _wrong_cases(
    exercise: Exercise, checks: Sequence[Check], seeds: int, problems: list[str], only: Collection[str]
) -> Iterator[AnswerRun]:
    """Yield the runs, called cases, of all wrong answers of an exercise.

    A case is one answer that is run with one seed. An answer that cannot be read, or whose docstring is incomplete, has
    no case.

    Args:
        exercise: the exercise.
        checks: all checks of the exercise; the docstring of a wrong answer must name one of them.
        seeds: the number of seeds for right answers; a wrong answer has as many cases, but at most 5.
        problems: a list to which a sentence is added for each wrong answer without a case, and one if the exercise has
            fewer than 2 wrong answers.
        only: the names of the answers that are run; if it is empty, all are run.
    """
    places, names = Places.of(exercise), [check.id for check in checks]
    if (count := len(exercise.wrong)) < _LEAST_WRONG and not only:
        problems.append(
            f"{places.wrong_entries.as_posix()}: there are {count} wrong answers; write at least {_LEAST_WRONG}"
        )
    for path in (path for path in exercise.wrong if _is_chosen(path, only)):
        try:
            answer = read_answer(exercise, path)
        except CourseError as error:  # the others are still run: one file that cannot be read hides no other problem
            folder = places.staff if is_entry(path) else places.wrong
            problems += [f"{folder.as_posix()}/{problem}" for problem in error.problems]
            continue
        where = places.known_answer("wrong", path.name)
        if not answer.caught_by or not answer.sentence:
            problems.append(
                f"{where}: its docstring must end with  caught by: <check>  and begin with the sentence that a student "
                f"reads, which is not {UNWRITTEN}"
            )
        elif answer.caught_by not in names:
            problems.append(
                f"{where}: caught by: there is no check {answer.caught_by!r}; the checks are {', '.join(names)}"
            )
        else:
            yield from _cases_for_seeds(exercise, "wrong", answer, min(seeds, _WRONG_SEEDS))


def _cases_for_seeds(exercise: Exercise, kind: str, answer: Answer, count: int) -> Iterator[AnswerRun]:
    """Yield a case of an answer for each seed.

    The cases of the second half of the seeds, such as seeds 10 to 19 of 20, are run while all cores are kept busy.

    Args:
        exercise: the exercise.
        kind: the kind of the answer: reference, right or wrong.
        answer: the answer.
        count: the number of seeds.
    """
    return (AnswerRun(exercise, kind, answer, seed, seed >= (count + 1) // 2) for seed in range(count))


def unusual_cases(exercise: Exercise, problems: list[str]) -> Iterator[AnswerRun]:
    """Yield cases in which one function returns something unusual, such as None.

    No check may break with such an answer, and hardly any of them may get full marks. Each function that a rule names
    is such a function in some of the cases.

    Args:
        exercise: the exercise.
        problems: a list to which a sentence is added for each unknown word after `also right:` in the reference.
    """
    if exercise.reference is None:
        return
    text = exercise.reference.read_text(encoding="utf-8")
    template = (Path(__file__).with_name("templates") / "unusual.py.txt").read_text(encoding="utf-8")
    fine = read_answer(exercise, exercise.reference).fine
    shown = exercise.shown_checks.read_text(encoding="utf-8", errors="replace") if exercise.shown_checks else ""
    sizes = str(sorted(sizes_in(shown)))
    for word in (word for word in fine if word not in MAY_BE_RIGHT):
        where = Places.of(exercise).reference.as_posix()
        problems.append(f"{where}: also right: {word} is not one of {', '.join(MAY_BE_RIGHT)}; fix the word")
    for name in _functions_in_rules(exercise):
        for gives, expression in UNUSUAL.items():
            # Below the reference, so that it stands in place of its function.
            source = (
                f"{text}\n\n{template.replace('@name@', name).replace('@gives@', expression).replace('@sizes@', sizes)}"
            )
            answer = Answer(exercise.reference.with_name(f"{name} gives {gives}"), source.encode(), "", "", fine=fine)
            yield AnswerRun(exercise, "unusual", answer, 0, unusual_result=gives, function=name)


def constant_cases(exercise: Exercise) -> Iterator[AnswerRun]:
    """Yield cases whose functions all return the same constant, or all raise the same error.

    None of these answers may earn a point. The functions are those that a rule names.
    """
    names = _functions_in_rules(exercise)
    for gives, statement in CONSTANTS.items() if names else ():
        source = "\n\n".join(f"def {name}(*args, **named):\n    {statement}\n" for name in names)
        path = exercise.folder / f"{CONSTANT_BEGINS}{gives}"
        yield AnswerRun(exercise, "constant", Answer(path, source.encode(), "", ""), 0)


def rules_naming(exercise: Exercise, function: str) -> list[str]:
    """Return the rules of an exercise whose text names a function, such as `["C1", "C3"]`."""
    named = re.compile(rf"`{re.escape(function)}\b")  # and not `double_` for `double`
    return [rule for rule, line in exercise.contract.items() if named.search(line)]


def _functions_in_rules(exercise: Exercise) -> list[str]:
    """Return the names of the reference's public functions that a rule names.

    Classes are left out.
    """
    if exercise.reference is None:
        return []
    body = ast.parse(exercise.reference.read_text(encoding="utf-8")).body
    names = [node.name for node in body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    return [name for name in names if rules_naming(exercise, name)]
