"""What is wrong with what came of an attack, and with what became of its neighbours and of the machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attacking.corpus import Attack
from attacking.school import CONTROL
from attacking.secrets import Secrets

BREACH = "BREACH"
"""An attack prints this word when something worked that must not."""

_LONGEST_MESSAGE = 8000
# The largest process is that of checks: it may receive 512 MiB of replies, and a comparison takes memory of its own.
_USED = {"memory": 2 << 30, "largest": 768 << 20, "files": 20_000}
_USED_DISK = 256 << 20
_STAFF_ONLY = ("journal.sqlite", "seed", "report.html", "unmatched.csv")

Report = Mapping[str, Any]


def problems_with_attack(attack: Attack, report: Report | None) -> Iterator[str]:
    """What its report should not say, or lacks."""
    graded = [exercise["id"] for exercise in report["exercises"]] if report is not None else []
    if report is None or {attack.exercise, CONTROL} - {*graded}:
        yield f"its report has {graded}; expected {attack.exercise} and {CONTROL} in it"
    else:
        yield from _problems_with_exercise(attack, report)
        if (earned := _exercise(report, attack.exercise)["score"]["earned"]) > attack.most:
            yield f"it has {earned} points, more than the {attack.most} that its rule leaves"
        yield from problems_of_anybody(attack, report)


def _problems_with_exercise(attack: Attack, report: Report) -> Iterator[str]:
    exercise = _exercise(report, attack.exercise)
    checks = {check["id"]: check for check in exercise["checks"]}
    asked = {id: attack.verdicts.get("all", "passed") for id in checks} | {
        id: verdict for id, verdict in attack.verdicts.items() if id != "all"
    }
    for id, verdict in asked.items():
        if id not in checks:
            yield f"there is no outcome of {id}"
        elif checks[id]["verdict"] not in verdict.split("|"):
            yield f"{id} is {checks[id]['verdict']}, expected {verdict}: {_told(checks[id])}"
        elif (checks[id]["earned"] + checks[id]["held_back"] > 0) != (checks[id]["verdict"] == "passed"):
            yield f"{id} is {checks[id]['verdict']} and earns {checks[id]['earned']}"
    if attack.is_loaded and (unloaded := [check for check in checks.values() if check["verdict"] == "error"]):
        yield f"it does not load, so that it attacks nothing: repair the attack: {_told(unloaded[0])}"
    lost = [check for check in exercise["checks"] if check["verdict"] != "passed"]
    for key in ("message", "detail"):
        wanted = getattr(attack, key)
        if wanted and not any(re.search(wanted, check[key]) for check in lost):
            yield f"no {key} says {wanted!r}: {sorted({check[key][:300] for check in lost})}"
    if attack.shown_output and not re.search(attack.shown_output, exercise["output"]):
        yield f"the output does not say {attack.shown_output!r}: {exercise['output'][:300]!r}"
    if attack.never:
        for text in _for_students(report):
            if re.search(attack.never, text):
                yield f"its author is told {attack.never!r}: {text[:200]!r}"


def problems_of_anybody(attack: Attack, report: Report) -> Iterator[str]:
    """What no attack may bring about, at whatever level its own expectation holds."""
    for exercise in report["exercises"]:
        for line in exercise["output"].split("\n"):
            if BREACH in line:
                yield f"{exercise['id']}: {line.strip()[:300]}"
        for check in exercise["checks"]:
            if len(check["message"]) > _LONGEST_MESSAGE:
                yield f"{exercise['id']}: the message of {check['id']} has {len(check['message'])} characters"
            if check["verdict"] == "broken":
                yield f"{exercise['id']}: {check['id']} is broken, which is our fault: {_told(check)}"
    control = _exercise(report, CONTROL)
    if attack.exercise != CONTROL and control["score"]["earned"] != control["score"]["possible"]:
        told = [_told(check) for check in control["checks"] if check["verdict"] != "passed"]
        yield f"the honest exercise {CONTROL} lost points: {told}"


def neighbours_changed(alone: Mapping[str, Report], beside: Mapping[str, Report]) -> Iterator[str]:
    """Reports of honest authors that are other ones beside attackers, but for times."""
    for author in sorted(alone.keys() & beside.keys()):
        one, other = (dict(_leaves(reports[author], _measured)) for reports in (alone, beside))
        if differing := [place for place in {**one, **other} if one.get(place) != other.get(place)]:
            was, now = (str(leaves.get(differing[0]))[:200] for leaves in (one, other))
            yield f"{author}: {differing[0][1:]} was {was!r}, is {now!r}"


def host_harmed(alone: Mapping[str, Any], beside: Mapping[str, Any], classes: int) -> Iterator[str]:
    """Processes that stayed; memory and disk that so many classes used up, more than without attackers."""
    for process in beside["left"]:
        yield f"a process stayed: {process}"
    for name, used in beside["used"].items():
        allowed = alone["used"].get(name, 0) + next((_USED[part] for part in _USED if part in name), _USED_DISK)
        allowed *= 1 if "largest" in name else classes
        if used > allowed:
            which = f" ({beside['largest']})" if "largest" in name else ""
            yield f"{name}{which}: {used / 2**20:.0f} MiB were used for a while; {allowed / 2**20:.0f} are allowed"


def leaks(secrets: Secrets, reports: Mapping[str, Report], out: Path, printed: str) -> Iterator[str]:
    """Canaries in what students see: of a report all but the details for staff, and every other file of a batch."""
    # Its first line names the folders, as whoever typed the command knows them.
    texts = {"the terminal": "\n".join(line for line in printed.split("\n") if not line.startswith("Grading "))}
    for author, report in reports.items():
        texts[f"the report of {author}"] = "\n".join(_for_students(report))
    for path in sorted(out.rglob("*")):
        if path.is_file() and path.parent.name != "reports" and path.name not in _STAFF_ONLY:
            texts[path.name] = path.read_text(encoding="utf-8", errors="replace")
    yield from secrets.found_in(texts)


def _for_students(report: Report) -> Iterator[str]:
    """The names and texts in what a student may see of a report."""
    for place, leaf in _leaves(report, lambda part: ("detail", "environment")):
        yield from (place, str(leaf))


def _measured(part: Report) -> Sequence[str]:
    """What may be another one for the same answer."""
    told = ("message", "detail") if part.get("category") == "performance" else ()
    return ("seconds", "graded_at", "speed", *told)


def _leaves(part: Any, left_out: Callable[[Report], Sequence[str]], place: str = "") -> Iterator[tuple[str, Any]]:
    """Each part of a report, by its place, but for keys that are left out; of what has parts its type."""
    if isinstance(part, Mapping):
        inner = [(f"{place}.{key}", item) for key, item in part.items() if key not in left_out(part)]
    elif isinstance(part, list):
        inner = [(f"{place}[{number}]", item) for number, item in enumerate(part)]
    else:
        yield place, part
        return
    yield place, type(part)
    for where, item in inner:
        yield from _leaves(item, left_out, where)


def _exercise(report: Report, id: str) -> Report:
    return next(exercise for exercise in report["exercises"] if exercise["id"] == id)


def _told(check: Report) -> str:
    return f"{check['message'][:300]!r}" + (
        f", staff: {check['detail'][:300]!r}" if check["verdict"] == "broken" else ""
    )
