"""One batch with honest authors alone, one or more with attackers between them, and what is wrong with it all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from attacking import judge, keeper, unconfined
from attacking.corpus import LEVELS, Attack
from attacking.host import changes, look_at_host
from attacking.listeners import listening
from attacking.school import can_make_devices, plant_honest_school, plant_school
from attacking.secrets import Secrets

COURSE = Path(__file__).resolve().parents[1] / "courses" / "wall"
_SEED = 263_155_981_733
_LONGEST_S = 600
_LATE = "'the exercise as a whole took longer than"


@dataclass
class Findings:
    """What is wrong.

    Attributes:
        level: of confinement, as the reports say.
        attacks: what is wrong with each attack, by name.
        not_run: why an attack was left out.
        general: what is wrong and cannot be laid at the door of one attack.
        leaks: canaries that students see.
    """

    level: str = "none"
    attacks: dict[str, list[str]] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    general: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Batch:
    """What came of one batch."""

    told: Mapping[str, Any]
    reports: Mapping[str, judge.Report]
    printed: str
    out: Path


def run_corpus(
    work: Path,
    attacks: Sequence[Attack],
    options: Sequence[str] = (),
    times: int = 1,
    classes: int = 1,
    *,
    confined: bool = True,
) -> Findings:
    """Grade honest authors alone, then with attackers between them, and judge.

    Args:
        work: an empty folder.
        attacks: what is planted.
        options: further options of `grade batch`.
        times: how often attackers are graded.
        classes: over how many classes they are spread, which are graded at the same time.
        confined: whether workers are confined as well as this machine allows; else not at all.
    """
    findings = Findings()
    # -P: the folder of that script has a `secrets` of its own.
    grade = ["-m", "grader"] if confined else ["-P", str(Path(unconfined.__file__))]
    secrets = Secrets.drawn()
    course = work / secrets.word("course")
    secrets.plant_in_course(COURSE, course)
    environment = {**os.environ, **secrets.plant_in_home(work / "home")}
    (work / "tmp").mkdir()
    environment["TMPDIR"] = str(work / "tmp")
    school = work / secrets.word("school")
    plant_honest_school(school / "alone", course, secrets, -(-len(attacks) // classes))
    alone = _run_batch(work, "alone", school, course, environment, grade, options)
    findings.general += _problems_of_run("the class of honest authors", alone)
    findings.level = next((report["environment"]["confinement"] for report in alone.reports.values()), "none")
    if findings.level not in LEVELS or not alone.reports:
        findings.general.append(f"no report, or an unknown level of confinement: {findings.level!r}")
        return findings
    chosen = [attack for attack in attacks if _is_run(attack, findings, work)]

    def grade_classes(names: Sequence[str], taught: Sequence[Attack], number: int) -> None:
        """Grade a part of the attacks in each of some classes, all at the same time, and judge."""
        authors = [
            plant_school(school / name, course, secrets, taught[place :: len(names)])
            for place, name in enumerate(names)
        ]
        before = look_at_host(course, school, work / "tmp")
        with listening(findings.general), ThreadPoolExecutor(len(names)) as threads:
            runs = [
                threads.submit(
                    _run_batch, work, f"{name}.{number}", school, course, environment, grade, options, of=name
                )
                for name in names
            ]
        findings.general += changes(before, look_at_host(course, school, work / "tmp"))
        for theirs, run in zip(authors, runs, strict=True):
            _judge(findings, secrets, alone, run.result(), theirs, len(names))

    for number in range(times):
        grade_classes([f"beside{place}.{number}" for place in range(classes)], chosen, number)
    # Where classes share a busy machine an exercise may be too slow for its limit, which tells nothing of an attack.
    if late := [attack for attack in chosen if _was_late(findings.attacks[attack.name])]:
        for attack in late:
            findings.attacks[attack.name] = []
        grade_classes(["late"], late, 0)
    return findings


def _was_late(problems: Sequence[str]) -> bool:
    return bool(problems) and all(_LATE in problem for problem in problems)


def _judge(
    findings: Findings,
    secrets: Secrets,
    alone: Batch,
    beside: Batch,
    authors: Mapping[str, Attack | None],
    classes: int,
) -> None:
    """Note what is wrong with a class with attackers."""
    findings.general += _problems_of_run("the class with attackers", beside)
    if missing := [author for author in sorted(authors) if author not in beside.reports]:
        findings.general.append(f"{len(missing)} authors have no report, {missing[0]!r} is the first")
        authors = {author: attack for author, attack in authors.items() if author not in missing[1:]}
    findings.general += judge.host_harmed(alone.told, beside.told, classes)
    honest = {author: report for author, report in alone.reports.items() if author in beside.reports}
    findings.general += judge.neighbours_changed(honest, beside.reports)
    findings.leaks += judge.leaks(secrets, beside.reports, beside.out, beside.printed)
    for author, attack in authors.items():
        if attack is not None:
            findings.attacks.setdefault(attack.name, [])
            findings.attacks[attack.name] += judge.problems_with_attack(attack, beside.reports.get(author))


def _is_run(attack: Attack, findings: Findings, work: Path) -> bool:
    here = "root" if os.getuid() == 0 else "unprivileged"
    if attack.unless == here:
        findings.not_run[attack.name] = f"not possible for {here}"
    elif "device" in attack.odd.values() and not can_make_devices(work):
        findings.not_run[attack.name] = "no device can be made here"
    elif not attack.holds_at(findings.level):
        findings.not_run[attack.name] = f"needs the level {attack.level!r}, here is {findings.level!r}"
    else:
        return True
    return False


def _run_batch(
    work: Path,
    name: str,
    school: Path,
    course: Path,
    environment: Mapping[str, str],
    program: Sequence[str],
    options: Sequence[str],
    of: str = "alone",
) -> Batch:
    out, told = work / f"out-{name}", work / f"told-{name}.json"
    out.mkdir(mode=0o700)
    (out / "seed").write_text(f"{_SEED:064x}\n", encoding="ascii")
    watch = [sys.executable, "-I", str(Path(keeper.__file__)), str(told), str(_LONGEST_S), str(work)]
    grade = [sys.executable, *program, "batch", str(school / of), "--out", str(out), "--course", str(course), "--staff"]
    ran = subprocess.run(
        [*watch, *grade, *options],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    (work / f"printed-{name}.txt").write_text(ran.stdout, encoding="utf-8")
    reports = [_strict_json(path.read_text(encoding="utf-8")) for path in sorted(out.glob("reports/*.json"))]
    summary = (
        json.loads(told.read_text(encoding="utf-8")) if told.is_file() else {"status": None, "left": [], "used": {}}
    )
    return Batch(summary, {report["author"]: report for report in reports}, ran.stdout, out)


def _problems_of_run(what: str, batch: Batch) -> Iterator[str]:
    if batch.told["status"] != 0:
        yield f"{what}: grade batch ended with {batch.told['status']}: {batch.printed[-2000:]}"
    for line in batch.printed.split("\n"):
        if any(not char.isprintable() for char in line):
            yield f"{what}: the terminal was sent control characters: {line[:200]!r}"
        if line.startswith("FORGED"):
            yield f"{what}: an author's name makes a line of its own: {line[:200]!r}"


def _strict_json(text: str) -> judge.Report:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no JSON")

    report: judge.Report = json.loads(text, parse_constant=refuse)
    return report
