"""Options that several commands have, as one set-up of a run. What they need is imported when a command runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from grader.model import Course
    from grader.model.messages import Setup

Rest = ParamSpec("Rest")

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


_MOST_LANES = 256

lanes_option = click.option(
    "-j",
    "lanes",
    metavar="N",
    type=click.IntRange(min=1, max=_MOST_LANES),
    help="So much is graded at once; by default as much as there are cores.",
)


_CONFINEMENT = "The least level of confinement of student code; as much as this machine allows is used in any case."


def confinement_option(
    default: str | None, shown: str | bool = True, told: str = _CONFINEMENT
) -> Callable[[Callable[Rest, None]], Callable[Rest, None]]:
    """The least level of confinement; `shown` tells the default where it hangs on something, `told` what it is for."""
    return click.option(
        "--confinement",
        type=click.Choice(["none", "reduced", "full"]),
        default=default,
        show_default=shown,
        help=told,
    )


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


def format_option(**more: Any) -> Callable[[Callable[Rest, None]], Callable[Rest, None]]:
    """Formats to write, each with its file."""
    return click.option(
        "--format",
        "formats",
        metavar="F=FILE",
        type=_FormatFile(),
        multiple=True,
        help="Write the report in a format: junit, gradescope, prairielearn, classroom, classroom50, markdown, and for "
        "a job's log github, gitlab, log. FILE may be - for standard output. May be given several times.",
        **more,
    )


hidden_option = click.option(
    "--hidden",
    type=click.Choice(["visible", "after_due_date", "after_published", "hidden"]),
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

secret_option = click.option(
    "--secret-file",
    type=click.Path(path_type=Path),
    help="The secret that the inputs of --course come from; by default that in GRADE_SECRET, or a fresh one.",
)


staff_option = click.option(
    "--staff", is_flag=True, help="Write detail of hidden checks into reports, which students must not get then."
)


def read_setup(start: str | None, device: str = "sim", confinement: str = "none", seed: int = 0) -> Setup:
    """The set-up that the options ask for."""
    from grader.model import Device
    from grader.model.messages import Setup, Start
    from grader.runner.open import default_start
    from grader.sandbox.levels import Level

    accelerator = Device(device)
    return Setup(
        start=Start(start) if start else default_start(accelerator),
        accelerator=accelerator,
        least=Level.of(confinement),
        seed=seed,
    )


def complete_exercises(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The exercises and modules of the course in this folder that begin so, for a shell."""
    course = _course_here()
    if course is None:
        return []
    found = [CompletionItem(item.id, help=f"{item.number} {item.title}") for item in course.exercises]
    found += [CompletionItem(item.number, help=item.title) for item in course.exercises]
    found += [CompletionItem(module.id, help=module.title) for module in course.modules]
    return [item for item in found if item.value.startswith(incomplete)]


def complete_grade(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The same; before the first name commands, too, and after one the rules of that exercise."""
    from grader.cli import COMMANDS
    from grader.course.names import find_exercises
    from grader.model.errors import CourseError

    found = complete_exercises(ctx, param, incomplete)
    course, names = _course_here(), ctx.params.get("names") or ()
    if not names:
        found += [CompletionItem(name) for name in COMMANDS if name != "run" and name.startswith(incomplete)]
    elif course is not None:
        with suppress(CourseError):
            rules = find_exercises(course, names[0])[0].contract
            found += [CompletionItem(rule, help=text) for rule, text in rules.items() if rule.startswith(incomplete)]
    return found


def complete_states(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The states that begin so."""
    from grader.student.rows import FILTERS

    return [CompletionItem(state) for state in FILTERS if state.startswith(incomplete)]


def _course_here() -> Course | None:
    """The course in this folder; None also where it is wrong, as in the middle of a line nobody can be told so."""
    from grader.course.layout import find_course
    from grader.course.load import load_course
    from grader.model.errors import CourseError

    with suppress(CourseError, OSError):
        return load_course(find_course(Path.cwd()), whole=False)
    return None
