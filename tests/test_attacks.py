"""An attack gets what its file says, honest authors beside it notice nothing, and nothing is left of it.

A fifth of the corpus is run here, another one for each state of the engine. `make attacks` runs all of it.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from attacking.corpus import Attack, level_lines, read_corpus
from attacking.host import clean_host, remove_folder
from attacking.run import Findings, run_corpus
from attacking.secrets import Secrets
from support import COURSES, run_grade

import grader

ATTACKS = read_corpus()


def fifth_of(attacks: Sequence[Attack]) -> list[Attack]:
    """The same ones for the same engine, and others as soon as a line of it is changed."""
    engine = hashlib.sha256()
    for path in sorted(Path(grader.__file__).parent.rglob("*.py")):
        engine.update(path.read_bytes())
    return [a for a in attacks if hashlib.sha256(engine.digest() + a.name.encode()).digest()[0] % 5 == 0]


TRIED = fifth_of(ATTACKS)

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="the wall is Linux's"),
]


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    """What is wrong after a class of attackers and honest authors was graded, at the best level of this machine."""
    work = tmp_path_factory.mktemp("wall")
    try:
        return run_corpus(work, TRIED, ["--confinement", "none"], classes=os.cpu_count() or 1)
    finally:
        clean_host()
        remove_folder(work)


@pytest.mark.parametrize("attack", TRIED, ids=lambda attack: attack.name)
def test_attack(findings: Findings, attack: Attack) -> None:
    """Its checks get the verdicts and messages that it says, and nothing worked that must not."""
    if attack.name in findings.not_run:
        pytest.skip(findings.not_run[attack.name])
    assert not findings.attacks[attack.name]


def test_nothing_is_left_and_nobody_notices(findings: Findings) -> None:
    """No process, file, mount or shared memory stays, the machine is unharmed, and neighbours' reports are the same."""
    assert not findings.general


def test_no_canary_is_seen(findings: Findings) -> None:
    """No hidden check, input, answer, reference, path, environment or work of others stands in what students see."""
    assert not findings.leaks


def test_terminal_shows_no_canary(tmp_path: Path) -> None:
    """The same holds for the terminal of `grade`, which also stays as it is whatever is printed."""
    secrets = Secrets.drawn()
    secrets.plant_in_course(COURSES / "wall", tmp_path / "course")
    (tmp_path / "in").mkdir()
    for attack in ATTACKS:
        if attack.name in ("args_in_exception", "control_chars", "stdout_flood"):
            for name, text in attack.files.items():
                (tmp_path / "in" / name).write_bytes(text)
    ran = run_grade("--submission", str(tmp_path / "in"), cwd=tmp_path / "course")
    assert not list(secrets.found_in({"the terminal": ran.stdout + ran.stderr}))
    assert all(char.isprintable() for char in ran.stdout.replace("\n", ""))
    for word in ("CRASH", "LIMIT", "cleared"):
        assert word in ran.stdout


def test_what_lower_levels_do_not_hold_is_listed() -> None:
    """docs/security.md lists every attack that needs a wall, by the level at which it holds."""
    page = (Path(__file__).parents[1] / "docs" / "security.md").read_text(encoding="utf-8")
    listed = page.split("<!-- attacks -->\n")[1].split("\n<!-- end -->")[0]
    assert listed == "\n".join(level_lines(ATTACKS)).strip(), "run  python tests/attack_runner.py --table"
