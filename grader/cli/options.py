"""Options that several commands have. What they need is imported when a command runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from grader.model import Course
    from grader.model.messages import Setup

Function = Callable[..., None]
Decorator = Callable[[Function], Function]

_MOST_LANES = 256
_CONFINEMENT = "The least level of confinement of student code; as much as this machine allows is used in any case."
_VISIBILITY = ["visible", "after_due_date", "after_published", "hidden"]

start_option = click.option(
    "--start", type=click.Choice(["fork", "spawn"]), help="How workers start; by default what this system allows."
)
device_option = click.option(
    "--device",
    type=click.Choice(["sim", "cuda"]),
    default="sim",
    show_default=True,
    help="What checks of devices run on: a simulated accelerator, or CUDA, slowly and without confinement.",
)
plain_option = click.option(
    "--plain",
    is_flag=True,
    envvar="GRADE_PLAIN",
    help="A sentence in place of each picture, for screen readers; GRADE_PLAIN=1 does it always.",
)
lanes_option = click.option(
    "-j",
    "lanes",
    metavar="N",
    type=click.IntRange(min=1, max=_MOST_LANES),
    help="So much is graded at once; by default as much as there are cores.",
)
hidden_option = click.option(
    "--hidden",
    type=click.Choice(_VISIBILITY),
    default="after_published",
    show_default=True,
    help="When Gradescope shows hidden checks to students.",
)
points_option = click.option(
    "--points/--no-points",
    default=None,
    help="Tell points in pages and logs; by default not where GitHub says that the repository is public.",
)
seed_option = click.option(
    "--seed", type=click.IntRange(min=0), help="Seed of all random inputs; by default 0 where no secret is needed."
)
staff_option = click.option(
    "--staff", is_flag=True, help="Write detail of hidden checks into reports, which students must not get then."
)
handin_option = click.option("--handin", metavar="HANDIN", help="The exercises of this hand-in only.")
course_option = click.option(
    "--course", "course_folder", type=click.Path(path_type=Path), help="The course; by default this folder."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
package_option = click.option(
    "--package",
    "requirement",
    metavar="SPEC",
    help="How the grader is installed: a requirement, or a wheel; by default this version of it.",
)


@dataclass(frozen=True)
class Workers:
    """How the processes of student code run, in the words of the command line."""

    start: str | None
    device: str
    confinement: str | None

    def setup(self, seed: int = 0, confinement: str = "none") -> Setup:
        """The setup of a run; with this level of confinement if none was named."""
        return read_setup(self.start, self.device, self.confinement or confinement, seed)


def workers_options(confinement: str | None = "", shown: str | bool = True) -> Decorator:
    """`--device`, `--start` and, if a default is given for it, `--confinement`: one argument `workers` of a command.

    Args:
        confinement: the default level of confinement; "" for a command that has no such option.
        shown: the default as the help shows it, where it depends on other options.
    """

    def decorate(function: Function) -> Function:
        @wraps(function)
        def command(*, start: str | None, device: str, confinement: str | None = None, **rest: Any) -> None:
            function(workers=Workers(start, device, confinement), **rest)

        decorated = device_option(start_option(command))
        return decorated if confinement == "" else confinement_option(confinement, shown)(decorated)

    return decorate


def confinement_option(default: str | None, shown: str | bool = True, purpose: str = _CONFINEMENT) -> Decorator:
    """The least level of confinement."""
    levels = click.Choice(["none", "reduced", "full"])
    return click.option("--confinement", type=levels, default=default, show_default=shown, help=purpose)


def read_setup(start: str | None, device: str = "sim", confinement: str = "none", seed: int = 0) -> Setup:
    """The setup of a run, from words of the command line."""
    from grader.runner.pool import setup_of

    return setup_of(start, device, confinement, seed)


class _FormatFile(click.ParamType[tuple[str, str]]):
    """`F=FILE`: a format and where it goes."""

    name = "F=FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        """The two parts; a wrong name is answered with the nearest."""
        from grader.course.files import suggestion
        from grader.report.export.formats import FORMATS

        if isinstance(value, tuple):
            return value
        name, equals, path = str(value).partition("=")
        if name not in FORMATS:
            self.fail(f"there is no format {name!r}{suggestion(name, list(FORMATS))}", param, ctx)
        if not equals or not path:
            self.fail(f"say where it goes: {name}=FILE, or {name}=- for standard output", param, ctx)
        return name, path


def format_option(*, required: bool = False) -> Decorator:
    """Formats to write, each with its file."""
    return click.option(
        "--format",
        "formats",
        metavar="F=FILE",
        type=_FormatFile(),
        multiple=True,
        required=required,
        help="Write the report in a format: junit, gradescope, prairielearn, classroom, classroom50, markdown, and for "
        "a job's log github, gitlab, log. FILE may be - for standard output. May be given several times.",
    )


def complete_exercises(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The exercises and modules of the course in this folder that begin so, for a shell."""
    course = _course_here()
    if course is None:
        return []
    items = [CompletionItem(item.id, help=f"{item.number} {item.title}") for item in course.exercises]
    items += [CompletionItem(item.number, help=item.title) for item in course.exercises]
    items += [CompletionItem(module.id, help=module.title) for module in course.modules]
    return [item for item in items if item.value.startswith(incomplete)]


def complete_grade(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The same; before the first name commands, too, and after one the rules of that exercise."""
    from grader.cli import COMMANDS
    from grader.course.names import find_exercises
    from grader.model.errors import CourseError

    items = complete_exercises(ctx, param, incomplete)
    course, names = _course_here(), ctx.params.get("names") or ()
    if not names:
        items += [CompletionItem(name) for name in COMMANDS if name != "run" and name.startswith(incomplete)]
    elif course is not None:
        with suppress(CourseError):
            rules = find_exercises(course, names[0])[0].contract
            items += [CompletionItem(rule, help=text) for rule, text in rules.items() if rule.startswith(incomplete)]
    return items


def complete_states(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The states that begin so."""
    from grader.student.progress import FILTERS

    return [CompletionItem(state) for state in FILTERS if state.startswith(incomplete)]


def _course_here() -> Course | None:
    """The course in this folder; None also where it is wrong: in the middle of a line there is no place to say so."""
    from grader.course.layout import find_course
    from grader.course.load import load_course
    from grader.model.errors import CourseError

    with suppress(CourseError, OSError):
        return load_course(find_course(Path.cwd()), whole=False)
    return None


exercise_argument = click.argument("name", metavar="EXERCISE", shell_complete=complete_exercises)
next_argument = click.argument("name", metavar="[EXERCISE]", required=False, shell_complete=complete_exercises)
