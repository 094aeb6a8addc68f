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

from attacking import judge, keeper
from attacking.corpus import LEVELS, Attack
from attacking.host import changes, listening, look_at_host
from attacking.school import can_make_devices, plant_school
from attacking.secrets import Secrets

COURSE = Path(__file__).resolve().parents[1] / "courses" / "wall"
_SEED = 263_155_981_733
_LONGEST_S = 600
_LATE = "'the exercise as a whole took longer than"

_UNCONFINED = """
from dataclasses import replace
from grader.cli import main
from grader.grading import lanes
from grader.model.messages import Level
setup_of = lanes.setup_of
lanes.setup_of = lambda *asked: replace(setup_of(*asked), most=Level.NONE)
main(prog_name="grade")
"""
"""`grade` where nobody confines workers, as on a system that cannot: shows what holds without any wall."""


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
    run = _Run(work, options, confined)
    if not run.grade_honest_class(-(-len(attacks) // classes)):
        return run.findings
    chosen = [attack for attack in attacks if _is_run(attack, run.findings, work)]
    for number in range(times):
        run.grade_classes([f"beside{place}.{number}" for place in range(classes)], chosen)
    # Where classes share a busy machine an exercise may be too slow for its limit, which tells nothing of an attack.
    for attack in chosen:  # a class that was not judged, such as one whose batch ended early, shows nothing
        run.findings.attacks.setdefault(attack.name, ["it was not judged; see what is wrong outside"])
    if late := [attack for attack in chosen if _was_late(run.findings.attacks[attack.name])]:
        for attack in late:
            run.findings.attacks[attack.name] = []
        run.grade_classes(["late"], late)
    return run.findings


class _Run:
    """A course and classes with canaries in them, and what is found to be wrong."""

    def __init__(self, work: Path, options: Sequence[str], confined: bool) -> None:
        self.findings, self._secrets, self._work = Findings(), Secrets.drawn(), work
        self._course, self._school = work / self._secrets.word("course"), work / self._secrets.word("school")
        self._secrets.plant_in_course(COURSE, self._course)
        self._temp = work / "tmp"
        self._temp.mkdir()
        self._environment = {**os.environ, **self._secrets.plant_in_home(work / "home"), "TMPDIR": str(self._temp)}
        program = ["-m", "grader"] if confined else ["-c", _UNCONFINED]
        self._grade = [sys.executable, *program, "batch", "--course", str(self._course), "--staff", *options]

    def grade_honest_class(self, attackers: int) -> bool:
        """Grade a class as it is without that many attackers; whether there is anything to compare with."""
        plant_school(self._school / "alone", self._course, self._secrets, [None] * attackers)
        self._alone = self._run_batch("alone")
        self.findings.general += _problems_of_run("the class of honest authors", self._alone)
        levels = [report["environment"]["confinement"] for report in self._alone.reports.values()]
        self.findings.level = next(iter(levels), "none")
        if not levels or self.findings.level not in LEVELS:
            self.findings.general.append(f"no report, or an unknown level of confinement: {self.findings.level!r}")
            return False
        return True

    def grade_classes(self, names: Sequence[str], attacks: Sequence[Attack]) -> None:
        """Grade a part of the attacks in each of some classes, all at the same time, and judge."""
        authors = [
            plant_school(self._school / name, self._course, self._secrets, attacks[place :: len(names)])
            for place, name in enumerate(names)
        ]
        before = look_at_host(self._course, self._school, self._temp)
        with listening(self.findings.general), ThreadPoolExecutor(len(names)) as threads:
            batches = list(threads.map(self._run_batch, names))
        self.findings.general += changes(before, look_at_host(self._course, self._school, self._temp))
        for beside, theirs in zip(batches, authors, strict=True):
            self._judge(beside, theirs, len(names))

    def _run_batch(self, name: str) -> Batch:
        out, told = self._work / f"out-{name}", self._work / f"told-{name}.json"
        out.mkdir(mode=0o700)
        (out / "seed").write_text(f"{_SEED:064x}\n", encoding="ascii")
        watch = [sys.executable, "-I", str(Path(keeper.__file__)), str(told), str(_LONGEST_S), str(self._work)]
        ran = subprocess.run(
            [*watch, *self._grade, str(self._school / name), "--out", str(out)],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        (self._work / f"printed-{name}.txt").write_text(ran.stdout, encoding="utf-8")
        reports = [_strict_json(path.read_text(encoding="utf-8")) for path in sorted(out.glob("reports/*.json"))]
        summary: dict[str, Any] = {"status": None, "left": [], "used": {}}
        if told.is_file():
            summary = json.loads(told.read_text(encoding="utf-8"))
        return Batch(summary, {report["author"]: report for report in reports}, ran.stdout, out)

    def _judge(self, beside: Batch, authors: Mapping[str, Attack | None], classes: int) -> None:
        """Note what is wrong with a class with attackers, which was graded beside others."""
        findings, alone = self.findings, self._alone
        findings.general += _problems_of_run("the class with attackers", beside)
        if missing := [author for author in sorted(authors) if author not in beside.reports]:
            findings.general.append(f"{len(missing)} authors have no report, {missing[0]!r} is the first")
            authors = {author: attack for author, attack in authors.items() if author not in missing[1:]}
        findings.general += judge.host_harmed(alone.told, beside.told, classes)
        findings.general += judge.neighbours_changed(alone.reports, beside.reports)
        findings.leaks += judge.leaks(self._secrets, beside.reports, beside.out, beside.printed)
        for author, attack in authors.items():
            if attack is not None:
                problems = findings.attacks.setdefault(attack.name, [])
                problems += judge.problems_with_attack(attack, beside.reports.get(author))


def _was_late(problems: Sequence[str]) -> bool:
    return bool(problems) and all(_LATE in problem for problem in problems)


def _is_run(attack: Attack, findings: Findings, work: Path) -> bool:
    here = "root" if os.getuid() == 0 else "unprivileged"
    if attack.unless == here:
        findings.not_run[attack.name] = f"not possible for {here}"
    elif "device" in attack.odd.values() and not can_make_devices(work):
        findings.not_run[attack.name] = "no device can be made here"
    elif not attack.holds_at(findings.level):
        findings.not_run[attack.name] = f"needs the level {attack.level!r}, here is {findings.level!r}"
    return attack.name not in findings.not_run


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
