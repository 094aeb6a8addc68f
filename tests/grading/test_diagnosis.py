"""A submission that behaves like a known wrong answer is told its sentence; any other one is told nothing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support import COURSES, FORK, grade_one, open_lane

from grader.course.answers import Answer
from grader.course.load import load_course
from grader.grading.behaviour import Names, names_in_sentence
from grader.grading.diagnosis import KnownMistakes, diagnose, share_of_same_wrong_results
from grader.grading.store import open_store
from grader.intake.code import functions_reached, functions_used, names_in_sources
from grader.intake.collect import names_in
from grader.model import Check, Course, Exercise, Submission
from grader.model.messages import CheckSelection
from grader.model.progress import Progress
from grader.model.report import ExerciseFiles, GradedExercise, Mistake
from grader.runner.lane import JobResult, Lane

IN_PLACE = "def double_(x):\n    return x.mul_(2)\n"
TRIPLES = "def double(x):\n    y = x + x\n    return y + x\n\n\ndef double_(x):\n    return x.add_(2 * x)\n"
SENTENCE = "You tripled it; double means two times."


class Counted:
    """A lane that counts what is run in it, by the code's first line."""

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.progress = lane.progress
        self.ran: list[bytes] = []

    def run(
        self, exercise: Exercise, files: dict[str, bytes], seed: int, *, selection: CheckSelection, progress: Progress
    ) -> JobResult:
        self.ran.append(next(iter(files.values())))
        return self.lane.run(exercise, files, seed, selection=selection, progress=progress)

    def checks_of(self, exercise: Exercise) -> list[Check]:
        return self.lane.checks_of(exercise)


def submission_of(exercise: Exercise, text: str) -> Submission:
    return Submission("somebody", {exercise.id: ExerciseFiles({exercise.file_name: text.encode()}, Path("nowhere.py"))})


def diagnosed(
    lane: Lane | Counted, exercise: Exercise, text: str, *, seed: int = 0, known: KnownMistakes | None = None
) -> str | None:
    """What a text is told; a sentence for each mistake."""
    mistakes = mistakes_of(lane, exercise, text, seed=seed, known=known)
    return " And: ".join(mistake.sentence for mistake in mistakes) or None


def mistakes_of(
    lane: Lane | Counted, exercise: Exercise, text: str, *, seed: int = 0, known: KnownMistakes | None = None
) -> tuple[Mistake, ...]:
    """The known mistakes of a text."""
    submission = submission_of(exercise, text)
    graded = grade_one(exercise, submission, lane.lane if isinstance(lane, Counted) else lane, seed)
    setup = replace(FORK, seed=seed)
    return diagnose(graded, submission, setup, lane, known or KnownMistakes(setup)).graded.mistakes  # type: ignore[arg-type]


def with_wrong(exercise: Exercise, folder: Path, *answers: str) -> Exercise:
    """The exercise with other wrong answers."""
    paths = [folder / f"wrong_{number}.py" for number in range(len(answers))]
    for path, text in zip(paths, answers, strict=True):
        path.write_text(text)
    return replace(exercise, wrong=tuple(paths))


@pytest.fixture
def double(tiny: Course) -> Exercise:
    """An exercise with two wrong answers."""
    return tiny.exercises[0]


def test_a_known_mistake_is_named(double: Exercise, fork_lane: Lane) -> None:
    """However it is written, and whatever the inputs are."""
    assert diagnosed(fork_lane, double, TRIPLES, seed=5) == SENTENCE


@pytest.mark.parametrize(
    "text",
    [
        TRIPLES.replace("2 * x", "x"),  # right in place: it passes what the wrong answer does not
        TRIPLES.replace("y + x", "y + y"),  # four times
        TRIPLES.replace("return y + x", "return (y + x).double()"),  # one more check fails
        f"import torch\n\n\ndef double(x):\n    return torch.zeros_like(x)\n\n\n{IN_PLACE}",
        "def double(x, y):\n    return 2 * x\n\n\ndef double_(x, y):\n    return x.mul_(2)\n",
        f"def double(x):\n    return [2 * x]\n\n\n{IN_PLACE}",
    ],
)
def test_another_mistake_is_not_told(double: Exercise, fork_lane: Lane, text: str) -> None:
    """Nearly a known mistake is none."""
    assert diagnosed(fork_lane, double, text) is None


@pytest.mark.parametrize(
    "text",
    [
        f"def double(x):\n    return 2 * x\n\n\n{IN_PLACE}",  # right
        "def double(x) return",  # does not load
        IN_PLACE,  # no such function
        f"def double(x):\n    raise NotImplementedError\n\n\n{IN_PLACE}",
        f"def double(x):\n    while True:\n        pass\n\n\n{IN_PLACE}",
    ],
)
def test_nothing_is_run_where_nothing_can_be_named(double: Exercise, fork_lane: Lane, text: str) -> None:
    """Full marks, stubs, what does not load and the like cost no time."""
    lane = Counted(fork_lane)
    assert diagnosed(lane, double, text) is None
    assert lane.ran == []


def test_costs_alone_tell_a_mistake(tiny: Course, fork_lane: Lane, tmp_path: Path) -> None:
    """A loop of Python's is known by the check that counts; the check is not run again for another seed."""
    lane = Counted(fork_lane)
    loop = "def total(x):\n    t = 0 * x.sum()\n    for y in x:\n        t = t + y\n    return t\n"
    other = "def total(x):\n    return sum(x.flatten(), 0 * x.sum())\n"
    exercise = with_wrong(tiny.exercises[1], tmp_path, f'"""A loop.\n\ncaught by: counts\n"""\n\n{loop}')
    assert diagnosed(lane, exercise, other) == "A loop."
    assert other.encode() not in lane.ran


def test_two_that_behave_alike_are_both_told(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """Of three, none is."""
    answers = [f'"""Sentence {name}.\n\ncaught by: small\n"""\n\n{TRIPLES}' for name in "abc"]
    exercise = with_wrong(double, tmp_path, *answers[:2])
    assert diagnosed(fork_lane, exercise, TRIPLES) == "Sentence a. Or: Sentence b."
    exercise = with_wrong(double, tmp_path, *answers)
    assert diagnosed(fork_lane, exercise, TRIPLES) is None


RIGHT = "def double(x):\n    return 2 * x\n\n\n"
WRONG, WRONG_IN_PLACE = RIGHT.replace("2", "5"), IN_PLACE.replace("2", "7")
TWO = (
    f'"""Fives.\n\ncaught by: small\n"""\n\n{WRONG}{IN_PLACE}',
    f'"""Sevens.\n\ncaught by: in_place\n"""\n\n{RIGHT}{WRONG_IN_PLACE}',
)


def test_two_at_once_are_both_told(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """That which explains what is told in full comes first, whatever their files are called; the other names where."""
    exercise = with_wrong(double, tmp_path, *reversed(TWO))
    first, second = mistakes_of(fork_lane, exercise, WRONG + WRONG_IN_PLACE, seed=5)
    assert (first.sentence, first.lead) == ("Fives.", "In `double` (rule C1): ")
    assert (second.sentence, second.lead) == ("Sevens.", "In `double_` (rule C3): ")
    assert diagnosed(fork_lane, exercise, WRONG.replace("5", "6") + WRONG_IN_PLACE, seed=5) == "Sevens."


@pytest.mark.parametrize(
    "other",
    [
        WRONG_IN_PLACE.replace("mul_(7)", "add_(6 * x.abs())"),  # an unknown mistake
        "def double_(x):\n    raise NotImplementedError\n",
        "",
        "def double_(x, y):\n    return x\n",
        "def double_(x):\n    return x.mul_(2)\n",
    ],
)
def test_each_function_is_diagnosed_by_itself(double: Exercise, fork_lane: Lane, tmp_path: Path, other: str) -> None:
    """Whatever the others do: are right, wrong in a way that nobody knows, not written, not there."""
    exercise = with_wrong(double, tmp_path, *TWO)
    assert diagnosed(fork_lane, exercise, WRONG + other) == "Fives."


def test_each_function_of_many_has_its_mistake(
    double: Exercise, fork_lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is one of sentences that are told beside each other of few functions."""
    monkeypatch.setattr("grader.grading.diagnosis.MOST_MISTAKES", 1)
    exercise = with_wrong(double, tmp_path, *TWO)
    assert diagnosed(fork_lane, exercise, WRONG + WRONG_IN_PLACE) == "Fives. And: Sevens."


FLOATS = "def double(x):\n    return 2 * x.float()\n\n\n"
CALLS_FLOAT = f'"""You call `float`.\n\ncaught by: dtype\n"""\n\n{FLOATS}{IN_PLACE}'
BOTH_IN_ONE = FLOATS.replace("2", "5") + IN_PLACE


def test_two_mistakes_in_one_function_are_both_told(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """If together they explain each of its failing checks, and each some that the other does not."""
    exercise = with_wrong(double, tmp_path, CALLS_FLOAT, TWO[0])
    assert diagnosed(fork_lane, exercise, BOTH_IN_ONE) == "Fives. And: You call `float`."
    assert diagnosed(fork_lane, exercise, BOTH_IN_ONE.replace("5", "6")) is None


def test_of_two_pairs_what_is_certain_is_named(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """One of two that behave alike may not be it; the one beside it is."""
    exercise = with_wrong(double, tmp_path, TWO[0], CALLS_FLOAT, CALLS_FLOAT.replace("You call", "To call"))
    assert diagnosed(fork_lane, exercise, BOTH_IN_ONE) == "Fives."


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("2 * x.float()", "You call `float`."),
        ("torch.mul(x.float(), 2)", "You call `float`."),
        ("(2 * x).to(torch.float32)", None),
    ],
)
def test_without_a_value_what_is_named_must_be_there(
    double: Exercise, fork_lane: Lane, tmp_path: Path, code: str, told: str | None
) -> None:
    """A wrong dtype can come about in many ways: a sentence that names one is for whoever wrote that."""
    exercise = with_wrong(double, tmp_path, CALLS_FLOAT)
    text = f"import torch\n\n\ndef double(x):\n    return {code}\n\n\n{IN_PLACE}"
    assert diagnosed(fork_lane, exercise, text) == told


def test_names_are_looked_up_in_the_function_that_fails() -> None:
    """With what it leads to by name; of a file without such a function, everywhere."""
    text = b"""import torch.nn.functional as F

SIZE = torch.ones(3)

def wrong(x): return helper(x) + SIZE

def helper(x): return F.relu(x)

def other(x): return [v.clone() for v in x]
"""
    assert {"relu", "functional", "ones"} <= set(names_in_sources(text, functions=["wrong"]))
    assert "clone" not in set(names_in_sources(text, functions=["wrong"]))
    assert "clone" in names_in({"a.py": text}, ["other"]) - names_in({"a.py": text}, ["wrong"])
    assert "clone" in set(names_in_sources(text)) & set(names_in_sources(text, functions=["nothing"]))


def test_functions_used_are_those_that_the_code_leads_to() -> None:
    """Directly or by a function between them, which may be in a file that is imported."""
    text = b"from helpers import deep\n\ndef a(x): return b(x)\n\ndef b(x): return deep(x)\n\ndef c(x): return x.b\n"
    files = [text, b"class Deep: pass\n\ndef deep(x): return Deep\n\ndef d(x): return x\n"]
    used = {name: set(functions_used(*files, function=name)) for name in ("a", "c", "nothing")}
    assert used == {"a": {"b", "deep", "Deep"}, "c": set(), "nothing": set()}


REACHED = b"""
import helpers


def f(x):
    y = x * 2
    if len(x) == 3:
        return g(x)
    if x:
        z = [1 / 0]
    else:
        z = k(y)
    with a(z):
        raise ValueError
    return g(x)


def a(z): return b(z)


def b(z):
    while z:
        z = z - 1 / 0
        g(z)


def g(x): return x


def k(x): return x


class C:
    def m(self): raise ValueError

    def n(self): return g(1)


def j(x): return k(x) + g(x)
def i(x): return [k(each) + j(each) for each in x]
"""


@pytest.mark.parametrize(
    ("lines", "reached"),
    [
        ([6], {"f"}),
        ([8], {"f", "g"}),
        ([8, 27], {"f", "g"}),
        ([10], {"f"}),
        ([12], {"f", "k"}),
        ([14], {"f", "a", "b", "g", "k"}),
        ([18, 23], {"a", "b", "g"}),
        ([18, 22], {"a", "b", "g"}),
        ([39, 30], {"j", "k", "g"}),
        ([40, 30], {"i", "j", "k", "g"}),
        ([40, 40, 30], {"i", "j", "k", "g"}),
        ([34], {"C", "g"}),
        ([3], set()),
        ([], set()),
    ],
)
def test_functions_reached_are_those_before_the_lines_of_a_traceback(lines: list[int], reached: set[str]) -> None:
    """A branch that was not taken does not count; a loop counts whole, and so does a class."""
    assert set(functions_reached(b"not Python(", REACHED, places=[(1, line) for line in lines])) == reached


def test_names_of_other_files_count_if_they_are_imported() -> None:
    """A folder may hold the answers of other exercises as well: what they use says nothing of this one."""
    beside = b"import torch\ndef other(x): return torch.tensor([v.clone() for v in x])\n"
    helpers = b"def rows(x): return deep(x)\ndef deep(x): return x.unbind()\ndef unused(x): return x.tolist()\n"
    for wrong in (
        b"from helpers import rows\ndef wrong(x): return rows(x).detach()",
        b"import helpers as h\ndef wrong(x): return h.rows(x).detach()",
        b"from helpers import *\ndef wrong(x): return rows(x).detach()",
    ):
        names = names_in({"a.py": beside, "wrong.py": wrong, "helpers.py": helpers}, ["wrong"])
        assert {"detach", "unbind"} <= names, wrong
        assert not names & {"tensor", "clone", "tolist"}, wrong


@pytest.mark.parametrize("said", ["`torch.mean(x, 0)`", "`x.mean(0)`", "`torch.mean(rows, 0)`"])
def test_spellings_of_one_mistake_name_the_same(tmp_path: Path, said: str) -> None:
    """A package and a variable of the answer's need not stand in the student's code; the function must."""
    text = "import torch\n\ndef f(x):\n    rows = x * 1\n    return torch.mean(rows, 0)\n"
    reference = tmp_path / "reference.py"
    reference.write_text("def f(x):\n    return x.sum()\n")
    answer = Answer(tmp_path / "wrong.py", text.encode(), f"You take {said}.", "values")
    assert names_in_sentence(answer, reference) == Names((("mean",),))


def named(folder: Path, sentence: str, code: str, right: str, *, has_value: bool = False) -> Names:
    """What a sentence says of the names in code, where this is the wrong answer's line and that the reference's."""
    reference = folder / "reference.py"
    reference.write_text(f"def f(x):\n    return {right}\n")
    answer = Answer(folder / "wrong.py", f"def f(x):\n    return {code}\n".encode(), sentence, "values")
    return names_in_sentence(answer, reference, has_value=has_value)


def test_a_sentence_that_lists_spellings_is_true_of_each(tmp_path: Path) -> None:
    """Whichever of them the wrong answer has; an argument may stand without its name."""
    names = named(tmp_path, "You copy it (`repeat`, `stack`).", "x.repeat(3)", "x.expand(3)")
    assert [names.fits({used}) for used in ("repeat", "stack", "tile")] == [True, True, False]
    assert named(tmp_path, "You take `x.mean(dim=0)`.", "x.mean(dim=0)", "x").any_of == (("mean",),)


def test_where_a_value_shows_it_one_function_is_enough(tmp_path: Path) -> None:
    """A dtype that is named is seen in the result, however the code comes to it."""
    sentence, code = "You call `round` after `floor`, in `float64`.", "x.floor().round().to(torch.float64)"
    with_value, without = (named(tmp_path, sentence, code, "x", has_value=each) for each in (True, False))
    assert [with_value.fits(used) for used in ({"round"}, {"floor"}, {"float64"})] == [True, True, False]
    assert [without.fits(used) for used in ({"round"}, {"round", "floor", "float64"})] == [False, True]


def test_a_keyword_with_its_value_is_the_mistake(tmp_path: Path) -> None:
    """Who divides by n in another way is not told of the keyword; with another value it is the remedy."""
    said, right = "You divide by n (`unbiased=False`, `correction=0`); `dim=1` names the rows.", "x.std(1)"
    names = named(tmp_path, said, "x.std(dim=0, correction=0)", right, has_value=True)
    assert [names.fits({"std", used}) for used in ("correction", "unbiased", "mean", "dim")] == [
        True,
        True,
        False,
        False,
    ]


def test_a_spelling_that_is_listed_is_the_mistake_beside_what_is_to_be_missing(tmp_path: Path) -> None:
    """What to use in its place may be there, too."""
    names = named(tmp_path, "You copy (`repeat`, `contiguous`); `expand` does not.", "x.repeat(3)", "x.expand(3)")
    fits = [names.fits(used) for used in ({"expand", "contiguous"}, {"expand", "repeat"}, {"expand"})]
    assert fits == [True, False, False]


def test_a_name_that_is_right_elsewhere_must_be_there(tmp_path: Path) -> None:
    """It is the one thing that the sentence is about. What other functions of the answer name is not compared."""
    said = "`clone` keeps the strides."
    names = named(tmp_path, said, "x.clone()", "x.clone(memory_format=torch.contiguous_format)")
    assert [names.fits({used}) for used in ("clone", "empty_like")] == [True, False]
    reference, other = tmp_path / "both.py", "\n\ndef g(x):\n    return x.clone()\n"
    reference.write_text(f"def f(x):\n    return x.clone()\n{other}")
    answer = Answer(tmp_path / "wrong.py", f"def f(x):\n    return x\n{other}".encode(), "Not x; `clone` copies.", "v")
    assert names_in_sentence(answer, reference, ["f"]) == Names((), ("clone",))


def test_the_root_of_a_path_is_not_a_function(tmp_path: Path) -> None:
    """Who imports NumPy has not called what a sentence names of it."""
    names = named(tmp_path, "You copy (`clone`, `np.array`).", "x.clone()", "x")
    assert [names.fits({used}) for used in ("np", "array", "clone")] == [False, True, True]


def test_what_is_said_to_be_missing_must_be_missing(tmp_path: Path) -> None:
    """Who clones each is not told to clone each."""
    names = named(tmp_path, "You leave out `clone`; clone each `row`.", "[row for row in x]", "[r.clone() for r in x]")
    assert names == Names((), ("clone",))
    assert (names.fits({"x"}), names.fits({"x", "clone"})) == (True, False)


HIDDEN = '''
import torch

from grader.check import assert_values, check


@check("C1", share=2)
def check_several(student):
    """Doubles zeros, then others"""
    assert_values(student.double(torch.zeros(3)), torch.zeros(3))
    assert_values(student.double(torch.tensor([1.0, 2.0, 3.0])), torch.tensor([2.0, 4.0, 6.0]))
    for x in (torch.ones(2), torch.tensor([4.0, 5.0]), torch.tensor([7.0])):
        assert_values(student.double(x), 2 * x)


@check("C3", category="memory")
def check_both(student):
    """Doubles in place, then anew"""
    x = torch.zeros(2)
    student.double_(x)
    assert_values(student.double(x), torch.zeros(2))
'''
SHOWN = '''
import torch

from grader.check import assert_values, check


@check("C3")
def check_in_place(student):
    """Doubles in place"""
    x = torch.tensor([1.0, -1.0])
    student.double_(x)
    assert_values(x, torch.tensor([2.0, -2.0]))
'''
ADDS = (
    '"""You add one.\n\ncaught by: several\nbreaks: C1, C3\n"""\n\n'
    f"def double(x):\n    return 2 * x + 1\n\n\n{IN_PLACE}"
)


@pytest.fixture(scope="module")
def weak(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lane, Exercise]]:
    """An exercise whose check begins with zeros, for which many mistakes do the same."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path_factory.mktemp("weak") / "course"))
    (home / "exercises/01_basics/double/check_double.py").write_text(SHOWN)
    (home / "solutions/01_basics/double/check_double.py").write_text(HIDDEN)
    exercise = with_wrong(load_course(home).exercises[0], home, ADDS)
    with open_lane([exercise], FORK) as lane:
        yield lane, exercise


def test_a_match_at_zeros_alone_names_no_mistake(weak: tuple[Lane, Exercise]) -> None:
    """The functions are called with all inputs of the check, also with those behind the one at which it ends."""
    told = [
        diagnosed(*weak, f"def double(x):\n    return {code}\n\n\n{IN_PLACE}") for code in ("x + 1 + x", "3 * x + 1")
    ]
    assert told == ["You add one.", None]


def test_a_corner_in_which_a_student_is_right_hides_no_mistake(weak: tuple[Lane, Exercise]) -> None:
    """In most calls it returns what the known answer does, and in the others what is right, and nothing else."""
    corners = ("int(x.numel() > 1)", "int(x.numel() > 2)", "(1 if x.numel() > 1 else 3)")
    texts = [f"def double(x):\n    return 2 * x + {corner}\n\n\n{IN_PLACE}" for corner in corners]
    assert [diagnosed(*weak, text) for text in texts] == ["You add one.", None, None]


PRODUCTS = f'''"""You `square`.\n\ncaught by: kinds\nbreaks: C2, C1\n"""\n\n
def double(x):
    return 2 * x if x.is_floating_point() else 2 * x.square()\n\n\n{IN_PLACE}'''
KINDS = '''
@check("C2", share=2)
def check_kinds(student):
    """Doubles ints"""
    assert_values(student.double(torch.tensor([3, 3])), torch.tensor([6, 6]))
    assert_values(student.double(torch.tensor([4, 1])), torch.tensor([8, 2]))
    assert_values(student.double(torch.tensor([1, 5])), torch.tensor([2, 10]))
    for number in range(2, 12):
        assert_values(student.double(torch.tensor([number])), torch.tensor([2 * number]))
'''


def test_two_mistakes_agree_with_all_inputs_too(weak: tuple[Lane, Exercise], tmp_path: Path) -> None:
    """Each of the two matches at the first input of its check; behind it, the submission does something else.

    The last one adds one in two of five calls. That it squares all others is no sign that it adds one. That it squares
    is said, beside a mistake that nobody knows.
    """
    home = Path(shutil.copytree(weak[1].folder.parents[2], tmp_path / "course"))
    checks = home / "solutions/01_basics/double/check_double.py"
    checks.write_text(HIDDEN + KINDS)
    adds = ADDS.replace("2 * x + 1", "2 * x + x.is_floating_point()")
    exercise = with_wrong(load_course(home).exercises[0], home, adds, PRODUCTS)
    with open_lane([exercise], FORK) as lane:
        told = [
            diagnosed(
                lane,
                exercise,
                f"def double(x):\n    return {floats} if x.is_floating_point() else {ints}\n\n\n{IN_PLACE}",
            )
            for floats, ints in (
                ("x + 1 + x", "2 * x.square()"),
                ("3 * x + 1", "2 * x.square()"),
                ("x + 1 + x", "x.square() * 0 + 18"),
                ("2 * x + int(x.numel() == 3)", "2 * x.square()"),
            )
        ]
    assert told == ["You add one. And: You `square`.", None, None, "You `square`."]


ITEMS = '''
import torch

from grader.check import assert_values, check


@check("C1", share=2)
def check_matrix(student):
    """Counts the numbers of a matrix"""
    assert_values(student.double(torch.ones(2, 3))["count"], 6)


@check("C1", share=2)
def check_count(student):
    """Counts numbers"""
    for x in (torch.ones(2), torch.tensor(3.0), torch.ones(2, 3)):
        assert_values(student.double(x)["count"], x.numel())


@check("C2", share=2)
def check_dims(student):
    """Counts dims"""
    for x in (torch.tensor(3.0), torch.ones(4)):
        assert_values(student.double(x)["dims"], x.dim())


@check("C3", share=2)
def check_twice(student):
    """Doubles"""
    for x in (torch.ones(2), torch.ones(4, 1)):
        assert_values(student.double(x)["twice"], 2 * x)
'''


def returns(twice: str = "2 * x", count: str = "x.numel()", dims: str = "x.dim()") -> str:
    """An answer that returns a dict of three items."""
    return f'def double(x):\n    return {{"twice": {twice}, "count": {count}, "dims": {dims}}}\n\n\n{IN_PLACE}'


def test_two_mistakes_in_items_of_one_result_are_both_told(weak: tuple[Lane, Exercise], tmp_path: Path) -> None:
    """Where each result shows both, and a check that both fail ends at the first of them; or where one is not known.

    Who always counts two numbers counts them wrong where rows are counted right, too: that is another mistake.
    """
    home = Path(shutil.copytree(weak[1].folder.parents[2], tmp_path / "course"))
    (home / "solutions/01_basics/double/check_double.py").write_text(ITEMS)
    (home / "solutions/01_basics/double/double.py").write_text(returns())
    rows, length = "len(x) if x.dim() else 1", "len(x)"
    known = (
        f'"""You count rows.\n\ncaught by: matrix\n"""\n\n{returns(count=rows)}',
        f'"""You take the length.\n\ncaught by: dims\nbreaks: C1, C3\n"""\n\n{returns(dims=length)}',
    )
    exercise = with_wrong(load_course(home).exercises[0], home, *known)
    with open_lane([exercise], FORK) as lane:
        told = [
            diagnosed(lane, exercise, text)
            for text in (
                returns(count=rows, dims=length),
                returns(count=rows, twice="3 * x"),
                returns(count="2", dims=length),
                returns(count="2", twice="3 * x"),
            )
        ]
    both = "You count rows. And: You take the length."
    assert told == [both, "You count rows.", "You take the length.", None]


SIGNS = '''
@check("C2", share=2)
def check_negative(student):
    """Doubles a negative number, of whose sign the rule says nothing"""
    assert_values(student.double(torch.tensor([-3.0])).abs(), torch.tensor([6.0]))
'''


def test_what_right_answers_do_in_different_ways_hides_no_mistake(weak: tuple[Lane, Exercise], tmp_path: Path) -> None:
    """A rule leaves a sign open, so a submission may return another one than the reference and the known answer."""
    home = Path(shutil.copytree(weak[1].folder.parents[2], tmp_path / "course"))
    (home / "solutions/01_basics/double/check_double.py").write_text(HIDDEN + SIGNS)
    exercise = with_wrong(load_course(home).exercises[0], home, ADDS.replace("2 * x + 1", "2 * x + (x >= 0)"))
    right = tmp_path / "right.py"
    text = f"import torch\n\n\ndef double(x):\n    return torch.where(x < 0, -2 * x, 2 * x{{more}})\n\n\n{IN_PLACE}"
    right.write_text(text.format(more=""))
    with open_lane([exercise], FORK) as lane:
        told = [diagnosed(lane, replace(exercise, right=paths), text.format(more=" + 1")) for paths in ((), (right,))]
    assert told == [None, "You add one."]


def test_a_check_that_ends_otherwise_in_the_same_function_is_another_mistake(
    weak: tuple[Lane, Exercise], tmp_path: Path
) -> None:
    """A check of costs is not among the calls that are compared; it calls another wrong function first."""
    home = Path(shutil.copytree(weak[1].folder.parents[2], tmp_path / "course"))
    checks = home / "solutions/01_basics/double/check_double.py"
    checks.write_text(HIDDEN.replace('category="memory"', 'category="performance"'))
    exercise = with_wrong(load_course(home).exercises[0], home, ADDS)
    with open_lane([exercise], FORK) as lane:
        told = [
            diagnosed(lane, exercise, f"def double(x):\n    return 2 * x + {more}\n\n\n{IN_PLACE.replace('2', '3')}")
            for more in ("1", "(1 if x.sum() or x.numel() > 2 else 5)")
        ]
    assert told == ["You add one.", None]


@pytest.mark.parametrize(
    ("submitted", "wrong", "right", "share"),
    [
        # Each of two digests rounds in its own way: both are near the right value, and not near enough to each other.
        (["a:b"], ["c:d"], ["a:d"], 1),
        (["a:b", "x:x"], ["c:d", "x:x"], ["a:d", "y:y"], 1),
        (["z:z"], ["x:x"], ["y:y"], 0),
        (["x:x", "x:x", "x:x", "y:y"], ["x:x"] * 4, ["y:y"] * 4, 0.75),
        (["x:x", "x:x", "y:y", "y:y"], ["x:x"] * 4, ["y:y"] * 4, 0),
    ],
)
def test_share_of_same_wrong_results(submitted: list[str], wrong: list[str], right: list[str], share: float) -> None:
    rows = [{("check", "f", number, ""): one for number, one in enumerate(row)} for row in (submitted, wrong, right)]
    assert share_of_same_wrong_results(*rows) == share


def test_another_function_that_crashes_hides_no_mistake(weak: tuple[Lane, Exercise]) -> None:
    """A check of both ends in the function that it calls first, and says nothing of the other one."""
    text = "def double(x):\n    return x + x + 1\n\n\ndef double_(x):\n    raise ValueError(len(x))\n"
    assert diagnosed(*weak, text) == "You add one."


ADDS_NOTHING = (
    HIDDEN.replace("assert_values, check", "assert_does_not_use, assert_values, check")
    + '''

@check("C2")
def check_own(student):
    """Adds nothing"""
    for function in (student.double, student.double_):
        assert_does_not_use(function, "add_")
        function(torch.ones(2))
'''
)


def test_a_sentence_about_a_function_appears_once(weak: tuple[Lane, Exercise], tmp_path: Path) -> None:
    """It explains a check that ends before it calls the function, and all others of the function."""
    home = Path(shutil.copytree(weak[1].folder.parents[2], tmp_path / "course"))
    (home / "solutions/01_basics/double/check_double.py").write_text(ADDS_NOTHING)
    triples = "def double_(x):\n    return x.add_(2 * x)\n"
    known = f'"""Triples.\n\ncaught by: own\nbreaks: C2, C3\n"""\n\n{RIGHT}{triples}'
    exercise = with_wrong(load_course(home).exercises[0], home, known)
    with open_lane([exercise], FORK) as lane:
        (mistake,) = mistakes_of(lane, exercise, f"def double(x):\n    return x + x + x * x\n\n\n{triples}")
    assert (mistake.sentence, mistake.functions, mistake.rule) == ("Triples.", ("double_",), "C2")
    assert {*mistake.checks} == {"in_place", "own"}


def test_a_helper_of_a_wrong_answer_is_named_to_who_has_it(tmp_path: Path) -> None:
    """Others read the name of the function that the check calls."""
    home = Path(shutil.copytree(COURSES / "tiny", tmp_path / "course"))
    starter, staff = home / "exercises/01_basics/double/double.py", home / "solutions/01_basics/double"
    starter.write_text(f"{starter.read_text()}\n\ndef times(x, n):\n    return n * x  # TODO\n")
    helped = f"def times(x, n):\n    return n * x\n\n\ndef double(x):\n    return times(x, 2)\n\n\n{IN_PLACE}"
    (staff / "double.py").write_text(f"import torch\n\n\n{helped}")
    wrong = helped.replace("n * x", "(n + 1) * x")
    exercise = with_wrong(load_course(home).exercises[0], home, f'"""Triples.\n\ncaught by: small\n"""\n\n{wrong}')
    with open_lane([exercise], FORK) as lane:
        told = [
            mistakes_of(lane, exercise, text)[0].functions for text in (wrong, f"{RIGHT.replace('2', '3')}{IN_PLACE}")
        ]
    assert told == [("times",), ("double",)]


def test_one_that_cannot_be_read_leaves_the_others(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """A file that is gone is reported by `grade verify`."""
    exercise = with_wrong(double, tmp_path, "", f'"""Good.\n\ncaught by: small\n"""\n\n{TRIPLES}')
    exercise.wrong[0].unlink()
    assert diagnosed(fork_lane, exercise, TRIPLES) == "Good."


def test_what_is_lost_on_other_rules_is_another_mistake(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """A wrong answer that keeps a rule is not named for who loses much on it: its file says so."""
    text = BOTH_IN_ONE.replace("7", "2")
    exercise = with_wrong(double, tmp_path, f'"""Wrong.\n\ncaught by: dtype\n"""\n\n{text}')
    assert diagnosed(fork_lane, exercise, text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2 * x.float() + int(x.numel() == 3)", ["dtype"]),  # right in most calls
        ("3 * x.float()", []),  # in none
        ("2 * x.float() if x.numel() == 2 else [x]", []),
    ],
)
def test_a_mistake_beside_one_that_nobody_knows_is_named(
    double: Exercise, fork_lane: Lane, tmp_path: Path, text: str, said: list[str]
) -> None:
    """It explains a check by itself, and shows in all calls in which it can show; the others are not its checks."""
    exercise = with_wrong(double, tmp_path, CALLS_FLOAT)
    mistakes = mistakes_of(fork_lane, exercise, f"def double(x):\n    return {text}\n\n\n{IN_PLACE}")
    assert [(mistake.sentence, [*mistake.checks]) for mistake in mistakes] == [("You call `float`.", said)] * len(said)


def test_a_wrong_answer_runs_once_for_all(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """How it behaves is saved, in a file that holds no value of an input."""
    lane, path = Counted(fork_lane), tmp_path / "results.sqlite"
    with open_store(path) as store:
        diagnosed(lane, double, TRIPLES, known=KnownMistakes(FORK, store))
    assert any(source != TRIPLES.encode() for source in lane.ran)
    lane.ran.clear()
    with open_store(path) as store:
        assert diagnosed(lane, double, TRIPLES, known=KnownMistakes(FORK, store)) == SENTENCE
        rows = store.execute("SELECT * FROM traces")
    assert set(lane.ran) == {TRIPLES.encode()}
    assert rows
    assert "asked" not in repr(rows)
    assert "." not in repr(rows)


def test_a_changed_wrong_answer_is_run_again(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """What is known of the file as it was does not count."""
    lane, known = Counted(fork_lane), KnownMistakes(FORK)
    first, second = (f'"""No.\n\ncaught by: small\n"""\n\n{TRIPLES.replace("y + x", text)}' for text in ("y", "y + x"))
    exercise = with_wrong(double, tmp_path, first)
    assert diagnosed(lane, exercise, TRIPLES, known=known) is None
    exercise = with_wrong(double, tmp_path, second)
    assert diagnosed(lane, exercise, TRIPLES, known=known) == "No."


@pytest.mark.parametrize("end", ["import os; os._exit(0)", "import sys; sys.exit()"])
def test_an_end_of_python_is_like_no_other(double: Exercise, fork_lane: Lane, tmp_path: Path, end: str) -> None:
    """It says nothing of the mistake; what another check shows of the function still does."""
    text = f"def double(x):\n    {end}\n\n\n{IN_PLACE}"
    known = f'"""Ends.\n\ncaught by: small\n"""\n\n{text}'
    assert diagnosed(fork_lane, with_wrong(double, tmp_path, known), text) is None
    some = TRIPLES.replace("    y = x", f"    if x.dtype is __import__('torch').int64:\n        {end}\n    y = x")
    known = f'"""Triples.\n\ncaught by: small\n"""\n\n{some}'
    assert diagnosed(fork_lane, with_wrong(double, tmp_path, known), some) == "Triples."


def test_a_part_and_an_untouched_starter_tell_nothing(double: Exercise, fork_lane: Lane) -> None:
    """What was left out might tell two mistakes apart, and what the course gave is not the student's."""
    submission = submission_of(double, TRIPLES)
    graded = grade_one(double, submission, fork_lane)
    part = replace(graded, checks=graded.checks[:1], left_out=graded.checks[1:])
    for each in (part, replace(graded, state="not_started")):
        assert diagnose(each, submission, FORK, fork_lane, KnownMistakes(FORK)).graded.mistakes == ()


# -- a function that uses another one, which fails ---------------------------------------------------------------------

FIVES_IN_PLACE = f'"""Fives in place.\n\ncaught by: in_place\n"""\n\n{RIGHT}{IN_PLACE.replace("2", "5")}'
BY_DOUBLE = "def double_(x):\n    return x.copy_(twice(x))\n\n\ndef twice(x):\n    return double(x)\n"
LOOK_FIRST = "`double_` uses `double`, which fails, too: look there first."


def test_a_function_is_not_blamed_for_another_one_that_it_uses(
    double: Exercise, fork_lane: Lane, tmp_path: Path
) -> None:
    """It does what a known mistake in it does, but by the fault of the other; its own mistake is told."""
    exercise = with_wrong(double, tmp_path, FIVES_IN_PLACE)
    assert diagnosed(fork_lane, exercise, f"{WRONG}{BY_DOUBLE}") is None
    assert diagnosed(fork_lane, exercise, f"{WRONG}{IN_PLACE.replace('2', '5')}") == "Fives in place."
    assert diagnosed(fork_lane, exercise, f"{RIGHT}{BY_DOUBLE.replace('double(x)', '2.5 * double(x)')}") == (
        "Fives in place."
    )


def using_double(double: Exercise, folder: Path) -> Exercise:
    """The exercise with a reference whose second function uses the first."""
    reference = folder / "reference.py"
    reference.write_text(RIGHT + BY_DOUBLE)
    return replace(double, reference=reference)


def test_one_mistake_that_explains_both_is_named(double: Exercise, fork_lane: Lane, tmp_path: Path) -> None:
    """It is the mistake of the function that is used."""
    exercise = with_wrong(using_double(double, tmp_path), tmp_path, TWO[0].replace(IN_PLACE, BY_DOUBLE), FIVES_IN_PLACE)
    (mistake,) = mistakes_of(fork_lane, exercise, f"{WRONG}{BY_DOUBLE}", seed=3)
    assert (mistake.sentence, mistake.functions) == ("Fives.", ("double",))


def test_a_fault_that_leaves_the_user_right_hides_no_mistake_of_its_own(
    double: Exercise, fork_lane: Lane, tmp_path: Path
) -> None:
    """Who returns floats fails the check of the dtype, and `copy_` converts them: the other one fails by itself."""
    floats = CALLS_FLOAT.replace(IN_PLACE, BY_DOUBLE)
    text = FLOATS + BY_DOUBLE.replace("double(x)", "2.5 * double(x)")
    exercise = with_wrong(using_double(double, tmp_path), tmp_path, floats, FIVES_IN_PLACE)
    assert diagnosed(fork_lane, exercise, text) == "Fives in place. And: You call `float`."
    exercise = with_wrong(
        double, tmp_path, CALLS_FLOAT, FIVES_IN_PLACE
    )  # here nothing shows what `double_` makes of it
    assert diagnosed(fork_lane, exercise, text) == "You call `float`."


def test_nobody_is_sent_to_a_function_whose_fault_does_not_matter(
    double: Exercise, fork_lane: Lane, tmp_path: Path
) -> None:
    """It is named until a known wrong answer with the same fault shows that a right user of it passes."""
    by_itself = FLOATS + BY_DOUBLE.replace("double(x)", "2.5 * double(x)")
    using = using_double(double, tmp_path)
    for one, known, text, said in (
        (using, CALLS_FLOAT.replace(IN_PLACE, BY_DOUBLE), by_itself, []),
        (double, CALLS_FLOAT, by_itself, ["in_place"]),  # nothing shows what a right `double_` makes of it
        (using, TWO[0].replace(IN_PLACE, BY_DOUBLE), WRONG + BY_DOUBLE, ["in_place"]),
    ):
        exercise = with_wrong(one, tmp_path, known, FIVES_IN_PLACE)
        submission = submission_of(exercise, text)
        graded = grade_one(exercise, submission, fork_lane)
        assert checks_that_say(LOOK_FIRST, graded) == ["in_place"]
        after = diagnose(graded, submission, FORK, fork_lane, KnownMistakes(FORK)).graded
        assert checks_that_say(LOOK_FIRST, after) == said
        assert checks_that_say("C3  `double_(x)` doubles x in place and returns x.", after) == ["in_place"]


def checks_that_say(sentence: str, graded: GradedExercise) -> list[str]:
    """The ids of the checks whose message has a line."""
    return [row.check.id for row in graded.checks if sentence in row.outcome.message.split("\n")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WRONG + BY_DOUBLE, {"in_place"}),
        (RIGHT + BY_DOUBLE.replace("double(x)", "3 * double(x)"), set()),  # only one fails
        (WRONG + WRONG_IN_PLACE, set()),  # they do not use each other
        ("def double(x):\n    return 3 * x if len(x) else double_(x)\n\n\n" + BY_DOUBLE, set()),  # they do
        (BY_DOUBLE.replace("double(x)", "2 * x"), set()),  # a missing function has its own message
        (WRONG + BY_DOUBLE.replace("    return double", "    x[7]\n    return double"), set()),  # it did not come there
        (WRONG + BY_DOUBLE.replace("    return double(x)", "    return double(x)[7]"), {"in_place"}),
    ],
)
def test_the_message_says_where_to_look_first(double: Exercise, fork_lane: Lane, text: str, said: set[str]) -> None:
    """Below what went wrong, and above the rule."""
    rows = grade_one(double, submission_of(double, text), fork_lane).checks
    assert {row.check.id for row in rows if LOOK_FIRST in row.outcome.message} == said
    for row in rows:
        if row.check.id in said:
            story, rule = row.outcome.message.split(f"\n{LOOK_FIRST}\n")
            assert "expected" in story or "IndexError" in story
            assert rule.startswith("C3  `double_(x)` doubles x in place and returns x.")
