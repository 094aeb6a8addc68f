"""`grade web`: the course, or a class, in a browser."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli import options
from grader.model.errors import CourseError
from grader.report.console import Say, requirements_of_extra


@click.command("web")
@click.argument("out", required=False, type=options.PATH)
@click.option(
    "--port", type=click.IntRange(min=0, max=65535), default=0, help="The port on 127.0.0.1; by default a free one."
)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
@click.option(
    "--prefix",
    default="",
    metavar="PATH",
    help="The prefix that a reverse proxy removes from paths, such as /user/me/proxy/8123.",
)
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="NAME",
    help="The host name of the reverse proxy of --prefix, such as hub.example.org.",
)
@click.option("--poll", is_flag=True, help="Look for changed files again and again, for network drives.")
@options.course
@options.workers(None, "none; with OUT full")
def web_command(
    out: Path | None,
    port: int,
    no_browser: bool,
    prefix: str,
    hosts: tuple[str, ...],
    poll: bool,
    course_folder: Path | None,
    workers: options.Workers,
) -> None:
    """Show the course in a browser, or the class graded into OUT.

    Only this machine reaches the pages, and only with the address that is printed. Ctrl-C ends it.
    """
    say = Say()
    # Before the course is read: a path that is wrong is said at once.
    course = None if out is not None else options.course_here(course_folder)
    try:
        from grader.web.server import Address, open_socket, serve
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in ("nicegui", "fastapi", "uvicorn"):
            raise CourseError(
                "grade web needs NiceGUI, which is not installed; install it with  "
                f"pip install {requirements_of_extra('web')}"
            ) from None
        raise
    listener = open_socket(port)
    if course is not None:
        from grader.web.student_app import declare

        declare(course, workers.setup(), poll=poll)
        title = course.title
    else:
        from grader.web.staff_app import declare_class

        assert out is not None
        title = declare_class(out, course_folder, workers.setup(confinement="full"))

    def ready(address: Address) -> None:
        say(f"{title}: {address.url}", "Ctrl-C ends it.")

    serve(listener, title, ready, prefix=prefix.rstrip("/"), hosts=hosts, opens=not no_browser)
