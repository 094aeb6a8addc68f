"""What several commands have: options, the course in the user's folder, and the exercises that are named.

Other packages are imported when a command runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from grader.model import Broken, Course, Exercise, HandIn
    from grader.model.messages import Setup

Function = Callable[..., None]
Decorator = Callable[[Function], Function]

PATH = click.Path(path_type=Path)

_MOST_LANES = 256
_CONFINEMENT = "The least confinement of student code to accept; the strongest that this machine allows is always used."

start = click.option(
    "--start",
    type=click.Choice(["fork", "spawn"]),
    help="How the processes that run the graded code start; by default what this system allows.",
)
_device = click.option(
    "--device",
    type=click.Choice(["sim", "cuda"]),
    default="sim",
    show_default=True,
    help="What device checks run on: the simulated GPU, or a real one, slowly and without confinement.",
)
plain = click.option(
    "--plain",
    is_flag=True,
    envvar="GRADE_PLAIN",
    help="Print a sentence instead of each picture, for screen readers; GRADE_PLAIN=1 has the same effect.",
)
lanes = click.option(
    "-j",
    "lanes",
    metavar="N",
    type=click.IntRange(min=1, max=_MOST_LANES),
    help="How many exercises are graded at once; by default as many as there are cores.",
)
hidden = click.option(
    "--hidden",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
    default="after_published",
    show_default=True,
    help="When Gradescope shows hidden checks to students.",
)
points = click.option(
    "--points/--no-points",
    default=None,
    help="Show points in pages and logs; by default not for a public repository on GitHub.",
)
seed = click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of all random inputs; by default 0 where no secret is needed."
)
staff = click.option(
    "--staff", is_flag=True, help="Write details of hidden checks into reports; do not give these reports to students."
)
handin = click.option("--handin", metavar="HANDIN", help="Only the exercises of this hand-in.")
course = click.option("--course", "course_folder", type=PATH, help="The course; by default this folder.")
json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
package = click.option(
    "--package",
    "requirement",
    metavar="SPEC",
    help="What jobs install as the grader: git+https://..., a wheel, or a requirement; by default what install in "
    "course.yaml says, else the same as here.",
)


@dataclass(frozen=True)
class Workers:
    """The options for the processes of student code, in the words of the command line."""

    start: str | None
    device: str
    confinement: str | None

    @property
    def forks(self) -> bool:
        """Return whether workers are forked, according to these options."""
        from grader.runner.worker_source import CAN_FORK

        return CAN_FORK and self.start in (None, "fork") and self.device == "sim"

    def setup(self, seed: int = 0, confinement: str = "none") -> Setup:
        """Return the setup of a run: how workers start and are confined, the device and the seed.

        Args:
            seed: the seed of the inputs.
            confinement: the least level of confinement if the user typed no `--confinement`.
        """
        from grader.grading.lanes import setup_of

        return setup_of(self.start, self.device, self.confinement or confinement, seed)


def workers(default: str | None = "", shown: str | bool = True) -> Decorator:
    """Return a decorator that adds `--device`, `--start` and `--confinement` to a command.

    These options say how the processes of student code ("workers") run. The command gets them as one argument
    `workers`, a `Workers`.

    Args:
        default: the level of confinement if the user types no `--confinement`, such as "full"; None if other options
            decide on it; "" if the command has no option `--confinement`.
        shown: the words of `--help` for the default; True for `default` itself.
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def command(*, start: str | None, device: str, confinement: str | None = None, **rest: Any) -> None:
            function(workers=Workers(start, device, confinement), **rest)

        decorated = _device(start(command))
        return decorated if default == "" else confinement_option(default, shown)(decorated)

    return decorate


def confinement_option(default: str | None, shown: str | bool = True, purpose: str = _CONFINEMENT) -> Decorator:
    """Return a decorator that adds `--confinement`: how well student code must be confined.

    The run fails if this machine cannot confine student code as well as the level demands.

    Args:
        default: the level without the option, such as "full".
        shown: the words of `--help` for the default; True for the default itself.
        purpose: the words of `--help` for the option.
    """
    levels = click.Choice(["none", "reduced", "full"])
    return click.option("--confinement", type=levels, default=default, show_default=shown, help=purpose)


LMS = ("canvas", "moodle")
"""Formats for a whole class; what is written is another program's file, with scores filled in."""


def _parse_formats(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...], more: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Parse values of `--format` into pairs of a format and a file.

    The value "junit=FILE" becomes ("junit", "FILE"). The file is "" if the user typed no file.

    Args:
        ctx: the context of the command.
        param: the parameter.
        values: the values, as the user typed them.
        more: further formats, which may be given without `=FILE`.

    Raises:
        BadParameter: a format does not exist, or lacks its file.
    """
    from grader.course.files import suggestion
    from grader.report.export.formats import FORMATS

    pairs = []
    for value in values:
        name, equals, path = value.partition("=")
        if name not in FORMATS and name not in more:
            raise click.BadParameter(f"there is no format {name!r}{suggestion(name, [*FORMATS, *more])}")
        if not path and (equals or name not in more):
            raise click.BadParameter(f"say where it goes: {name}=FILE, or {name}=- for standard output")
        pairs.append((name, path))
    return pairs


def format_option(*, required: bool = False, more: Sequence[str] = ()) -> Decorator:
    """Return a decorator that adds the option `--format`.

    Args:
        required: True if the option must be given.
        more: further formats, those of a whole class. They may be given without `=FILE`.
    """
    of_class = f", and for a class {' or '.join(more)}" if more else ""
    return click.option(
        "--format",
        "formats",
        metavar="F=FILE",
        callback=partial(_parse_formats, more=more),
        multiple=True,
        required=required,
        help="Write the report in a format: junit, codequality, gradescope, prairielearn, classroom, classroom50, "
        f"markdown, and for a job's log github, gitlab, log{of_class}. FILE may be - for standard output. May be given "
        "several times.",
    )


def complete_exercises(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return completions for a shell: exercises and modules of this folder's course.

    Their names begin with the text that has been typed: for "ma" there is `masks`, with the help "04-2 Masks".

    Args:
        ctx: the context of the command.
        param: the parameter that is completed.
        incomplete: the text that has been typed of it.
    """
    from grader.model.errors import CourseError

    rows: dict[str, str] = {}
    # In the middle of a line there is no place to say what is wrong with a course.
    with suppress(CourseError, OSError):
        course, exercises = course_and_exercises((), prints_broken=False)
        rows |= {item.id: f"{item.number} {item.title}" for item in exercises}
        rows |= {item.number: item.title for item in exercises}
        rows |= {module.id: module.title for module in course.modules}
    return _completions(rows, incomplete)


def _completions(rows: Mapping[str, str], incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name, help=text) for name, text in rows.items() if name.startswith(incomplete)]


def complete_grade(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return completions for a shell: exercises, commands, and rules.

    Commands complete only the first word, and rules only a word after an exercise.

    Args:
        ctx: the context of the command.
        param: the parameter that is completed.
        incomplete: the text that has been typed of it.
    """
    from click.shell_completion import CompletionItem

    from grader.cli import COMMANDS
    from grader.model.errors import CourseError

    items, names = complete_exercises(ctx, param, incomplete), ctx.params.get("names") or ()
    if not names:
        return items + [CompletionItem(name) for name in COMMANDS if name != "run" and name.startswith(incomplete)]
    with suppress(CourseError, OSError):  # as above
        items += _completions(course_and_exercises(names[:1], prints_broken=False)[1][0].contract, incomplete)
    return items


def complete_answers(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return completions for a shell: the answers of the exercises that were typed.

    Args:
        ctx: the context of the command.
        param: the parameter that is completed.
        incomplete: the text that has been typed of it.
    """
    from grader.author.cases import answer_names
    from grader.model.errors import CourseError

    rows: dict[str, str] = {}
    # Click stops at the option that lacks its value, before it has given the arguments their names.
    names = ctx.params.get("names") or ctx.args
    with suppress(CourseError, OSError):  # as above
        for item in course_and_exercises(names, prints_broken=False)[1]:
            rows |= dict.fromkeys(answer_names(item), f"{item.number} {item.title}")
    return _completions(rows, incomplete)


exercise = click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
next_exercise = click.argument("name", metavar="[EXERCISE]", required=False, shell_complete=complete_exercises)


def course_here(folder: Path | None = None, *, whole: bool = False) -> Course:
    """Return the course that a folder lies in.

    Args:
        folder: a folder in the course; by default the user's folder.
        whole: True if an exercise that cannot be used is an error; else it is left out.
    """
    return course_and_exercises((), folder, whole=whole)[0]


def course_and_exercises(
    names: Sequence[str],
    folder: Path | None = None,
    *,
    whole: bool = False,
    prints_broken: bool = True,
    only_named: bool = False,
) -> tuple[Course, list[Exercise]]:
    """Return the course that a folder lies in, and its exercises with these names.

    Without names, these are all exercises of the course.

    Args:
        names: the names of exercises and modules, as people type them.
        folder: a folder in the course; by default the user's folder.
        whole: True if an exercise that cannot be used is an error; else it is left out.
        prints_broken: True if the problems of exercises that are left out are printed.
        only_named: True if the other exercises of the course may stay unread. They are read nevertheless if a name is
            not an id, a number or the folder of a module.
    """
    from grader.cli import COMMANDS
    from grader.course.layout import find_course
    from grader.course.load import find_exercises, load_course

    root = find_course((folder or Path.cwd()).resolve())
    course = load_course(root, whole=whole, named=names if only_named else ())
    if prints_broken:
        print_broken(broken_of(course, names))
    named = [exercise for name in names for exercise in find_exercises(course, name, COMMANDS)]
    return course, list({exercise.id: exercise for exercise in named}.values()) or list(course.exercises)


def exercise_here(name: str | None) -> tuple[Course, Exercise]:
    """Return the course in the user's folder, and its exercise with this name.

    Without a name, this is the next exercise.
    """
    from grader.student.rows import named_or_next_exercise

    course = course_here()
    return course, named_or_next_exercise(course, name)


def broken_of(course: Course, names: Sequence[str] = (), handin: HandIn | None = None) -> list[Broken]:
    """Return the exercises of a course that cannot be used.

    Args:
        course: the course.
        names: the names of modules and exercises that count; without any, all of the course count.
        handin: the hand-in whose exercises count; if there is one, `names` is ignored.
    """
    from grader.course.load import means_module

    if handin is not None:
        return [item for item in course.broken if item.id in handin.exercises]
    listed = [item for item in course.broken if item.module]
    return [item for item in listed if not names or any(means_module(item.module, name) for name in names)]


def print_broken(broken: Sequence[Broken]) -> None:
    """Print on standard error which exercises cannot be used, and what is wrong with them."""
    from grader.report.console import print_error

    for item in broken:
        for line in (*item.problems, f"{item.id} is left out until this is fixed"):
            print_error(line)


def handin_of(course: Course, name: str | None) -> HandIn | None:
    """Return the course's hand-in with this name; None without a name.

    Raises:
        CourseError: the course has no hand-in of that name.
    """
    from grader.model.errors import CourseError

    if name is None:
        return None
    handins = {handin.id: handin for handin in course.handins}
    if name not in handins:
        raise CourseError(f"this course has no hand-in {name!r}; it has {', '.join(handins) or 'none'}")
    return handins[name]


def exercises_in(handin: HandIn | None, exercises: Sequence[Exercise]) -> list[Exercise]:
    """Return the exercises that belong to a hand-in; without a hand-in, all of them."""
    return [exercise for exercise in exercises if handin is None or exercise.id in handin.exercises]
