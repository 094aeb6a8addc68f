"""Run the corpus of attacks: `python tests/attack_runner.py [-k NAME] [--twice] [--as-nobody] [--reduced] [--keep]`.

With `--none` without any wall; with `--table` nothing is run, and what the lower levels do not hold is printed.

All attacks are handed in by one class, with honest authors between them, and graded as a user grades: `grade batch`.
What each must get stands in its file; what must be seen outside is the same for all.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import grader

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from attacking.corpus import Attack, level_lines, read_corpus
from attacking.host import clean_host, interpreter_prefixes, remove_folder
from attacking.nobody import NOBODY, become_nobody, forbid_namespaces
from attacking.run import Findings, run_corpus

PROJECT = Path(grader.__file__).resolve().parents[1]


def main() -> None:
    """Run, print what is wrong, and say so by the exit status."""
    asked = _arguments()
    attacks = [attack for attack in read_corpus() if any(name in attack.name for name in asked.names or [""])]
    if asked.table:
        print("\n".join(level_lines(attacks)))
        return
    work = Path(tempfile.mkdtemp(prefix="wall-"))
    if asked.as_nobody:
        shutil.chown(work, NOBODY, NOBODY)
        become_nobody([*interpreter_prefixes(), str(PROJECT), str(work.parent)])
        os.environ.update(HOME=str(work), TMPDIR=str(work), USER="nobody")
    if asked.reduced:
        forbid_namespaces()
    started = time.monotonic()
    try:
        level = "reduced" if asked.reduced else "none" if asked.none else "full"
        findings = run_corpus(
            work, attacks, [f"--confinement={level}"], times=2 if asked.twice else 1, confined=not asked.none
        )
    finally:
        clean_host()
        if asked.keep:
            print(f"kept {work}")
        else:
            remove_folder(work)
    print("\n".join(_lines(attacks, findings, time.monotonic() - started)))
    sys.exit(1 if findings.general or findings.leaks or any(findings.attacks.values()) else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-k", dest="names", action="append", help="only attacks with this in their names")
    parser.add_argument("--twice", action="store_true", help="grade the class with attackers twice")
    parser.add_argument("--as-nobody", action="store_true", help="as an unprivileged user; only root can say so")
    parser.add_argument("--reduced", action="store_true", help="where no namespaces can be made: the reduced level")
    parser.add_argument("--none", action="store_true", help="without any wall: what is left to the first one")
    parser.add_argument("--table", action="store_true", help="print what the lower levels do not hold; run nothing")
    parser.add_argument("--keep", action="store_true", help="keep the class, the reports and what was printed")
    return parser.parse_args()


def _lines(attacks: Sequence[Attack], findings: Findings, seconds: float) -> Iterator[str]:
    for attack in attacks:
        problems = findings.attacks.get(attack.name, [])
        reason = findings.not_run.get(attack.name)
        if problems or reason:
            yield f"{'WRONG' if problems else 'left '}  {attack.name}" + (f": {reason}" if reason else "")
        yield from (f"       {problem}" for problem in problems)
    yield from (f"HOST   {problem}" for problem in findings.general)
    yield from (f"LEAK   {problem}" for problem in findings.leaks)
    wrong = sum(bool(problems) for problems in findings.attacks.values())
    left = len(findings.not_run)
    yield (
        f"{len(attacks)} attacks at the level {findings.level!r} in {seconds:.0f} s: {wrong} wrong, {left} left out, "
        f"{len(findings.general)} things wrong outside, {len(findings.leaks)} leaks"
    )


if __name__ == "__main__":
    main()
