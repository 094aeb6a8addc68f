"""The process that reads what strangers handed in: one request after another, each under limits.

Whatever goes wrong while it reads one author's files is a row of that author. It opens archives, walks folders, decodes
and parses; no other process of ours does that with what was handed in.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from grader.intake import code
from grader.intake.choice import submissions_of
from grader.intake.collect import Reply, Request, Text
from grader.intake.layouts import read_download
from grader.model import Exercise
from grader.model.errors import SubmissionError
from grader.model.files import from_json, to_json

if sys.platform != "win32":
    import resource


def reply_to(request: Request, course: Sequence[Exercise]) -> Reply:
    """Read what a request names: a class's download, an author's files, or a source text.

    The reply has the submissions, or facts about the text. An error in the files becomes its `problem`.
    """
    try:
        if request.download is not None:
            return Reply(intake=read_download(request.download, course))
        if request.text is not None:
            return _reply_about_text(request.text)
        assert request.handed is not None
        wanted = [exercise for exercise in course if exercise.id in request.wanted]
        own, unmatched = submissions_of(
            request.handed,
            course,
            wanted,
            with_earlier_attempts=request.with_earlier_attempts,
            root=request.root,
            keeps_archives_closed=request.keeps_archives_closed,
        )
        return Reply(tuple(own), tuple(unmatched))
    except SubmissionError as error:
        return Reply(problem=str(error))
    except MemoryError:
        raise  # the process ends, and the host says why
    except Exception as error:  # of any kind: it is about these files, and keeps nobody else from their marks
        return Reply(problem=code.unreadable_because(error))


def _reply_about_text(text: Text) -> Reply:
    """Return a reply about a source text, such as the names in it if `text.wanted` is "names"."""
    if text.wanted == "names":
        names = set(code.names_in_sources(*text.files, functions=text.known))
        return Reply(names=tuple(sorted(names)))
    if text.wanted == "functions":
        (function,) = text.known
        return Reply(names=tuple(sorted(set(code.functions_used(*text.files, function=function)))))
    if text.wanted == "reached":
        return Reply(names=tuple(sorted(set(code.functions_reached(*text.files, places=text.places)))))
    (source,) = text.files
    if text.wanted == "anonymous":
        return Reply(code=code.without_names(source, text.people, text.known))
    plain, tokens, places = code.tokens_of(source)
    return Reply(code=plain, tokens=tokens, places=places)


def main() -> None:
    """Reply to requests until the input ends, then remove what was unpacked.

    Each request and each reply is a line of JSON.
    """
    if sys.platform != "win32":
        memory = int(sys.argv[1]) << 20
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError, ValueError):  # macOS has no such limit, and a smaller one may be set already
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    course: Sequence[Exercise] = ()
    folders: list[Path] = []
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = from_json(Request, line)
        course = request.course or course
        folders += [request.download.folder] if request.download is not None else []
        _limit_time(request.cpu_s)
        answers.write(to_json(reply_to(request, course)) + b"\n")
        answers.flush()
    for folder in folders:  # also where the process that wanted them was killed
        shutil.rmtree(folder, ignore_errors=True)


def _limit_time(seconds: int) -> None:
    """Limit the CPU time of this process: `seconds` more from now on.

    After them, the kernel kills the process.
    """
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        with suppress(ValueError):  # a smaller limit is set already
            resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


if __name__ == "__main__":
    main()
