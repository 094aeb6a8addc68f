"""How the checks judge answers that were written without them: a table by exercise, and each answer that surprises.

A folder holds `EXERCISE/right_01/FILE.py` and `EXERCISE/wrong_01/FILE.py`, written from what a student sees alone. The
first line of a file says what it is: `# right: in one expression`, or `# breaks: C3 - ...` for a wrong one. A right
answer must have full marks; a wrong one must lose points on a rule that it names.

    python tools/strangers.py DIR 02-1 07-1 --seeds 2
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.course.layout import find_course
from grader.course.load import find_exercises, load_course
from grader.grading.plan import RunPlan
from grader.grading.runtime import Runtime
from grader.grading.schedule import grade_submission
from grader.model import Course, Exercise, GradedExercise, Submission
from grader.model.messages import Setup, Start
from grader.model.report import ExerciseFiles


@dataclass(frozen=True)
class Answer:
    """One answer of a stranger: its exercise, its file, whether it is said to be right, and the rules it breaks."""

    exercise: Exercise
    path: Path
    right: bool
    rules: frozenset[str]

    @property
    def name(self) -> str:
        return f"{self.exercise.number} {self.path.parent.name}"

    def submission(self) -> Submission:
        files = {self.exercise.file_name: self.path.read_bytes()}
        digest = hashlib.sha256(self.path.read_bytes()).hexdigest()
        return Submission(self.name, {self.exercise.id: ExerciseFiles(files, self.path)}, digest)


def answers(folder: Path, exercises: list[Exercise]) -> Iterator[Answer]:
    """Yield all answers in a folder to these exercises."""
    for exercise in exercises:
        for path in sorted((folder / exercise.id).glob(f"*/{exercise.file_name}")):
            first = path.read_text(encoding="utf-8").partition("\n")[0]
            right = path.parent.name.startswith("right")
            yield Answer(exercise, path, right, frozenset(re.findall(r"\bC\d+\b", "" if right else first)))


def graded(course: Course, answer: Answer, lanes: Runtime, seed: int) -> GradedExercise:
    plan = RunPlan(course, [answer.exercise], Setup(Start.FORK, seed=seed), runs_untouched=True)
    return grade_submission(plan, answer.submission(), lanes).exercises[0]


def surprise(answer: Answer, found: GradedExercise) -> str:
    """Return in words how a result differs from what the answer's first line promises; "" if it does not."""
    # What a cap holds back was earned: it is not lost on the rule of that check.
    lost = [row for row in found.checks if row.score.earned + row.held_back < row.score.possible]
    told = "\n".join(
        f"      {row.check.contract} {row.check.id} {row.outcome.verdict.value}: {row.outcome.message.splitlines()[:1]}"
        for row in lost
    )
    if any(row.outcome.verdict.value == "broken" for row in found.checks):
        return f"BROKEN\n{told}"
    if answer.right:
        return f"right, but {found.score.earned} of {found.score.possible}\n{told}" if lost else ""
    if not lost:
        return f"wrong ({', '.join(sorted(answer.rules))}), and full marks"
    if not answer.rules & {row.check.contract for row in lost}:
        return f"loses, but nothing on {', '.join(sorted(answer.rules))}\n{told}"
    missing = {row.check.id: row.score.possible - row.score.earned - row.held_back for row in lost}
    elsewhere = sum(missing[row.check.id] for row in lost if row.check.contract not in answer.rules)
    if elsewhere > found.score.possible / 10:
        return f"loses {elsewhere} of {found.score.possible} on rules it does not name\n{told}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("exercises", nargs="*")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a line for each run is added to this file")
    options = parser.parse_args()
    course = load_course(find_course(Path.cwd()))
    exercises = [item for name in options.exercises for item in find_exercises(course, name)] or list(course.exercises)
    with Runtime(exercises, Setup(Start.FORK)) as lanes:
        for exercise in exercises:
            found = list(answers(options.folder, [exercise]))
            odd = 0
            for answer in found:
                for seed in range(options.seeds):
                    result = graded(course, answer, lanes, seed)
                    why = surprise(answer, result)
                    odd += bool(why)
                    if why:
                        first = answer.path.read_text(encoding="utf-8").partition("\n")[0]
                        print(f"  {answer.name} seed {seed}: {why}\n      {first}", flush=True)
                    if options.json:
                        row = {"answer": answer.name, "seed": seed, "earned": result.score.earned, "surprise": why}
                        with options.json.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + "\n")
            right = sum(answer.right for answer in found)
            print(f"| {exercise.number} | {right} right | {len(found) - right} wrong | {odd} surprises |", flush=True)


if __name__ == "__main__":
    main()
