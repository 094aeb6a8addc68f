"""How often a known mistake is recognised, how often wrongly, and what it costs.

    python tools/diagnosis.py EXERCISE... [--every N] [--pairs N]

Three kinds of submissions: the known wrong answers themselves, with a seed that nothing is compared by; two of them at
once, where they write other functions; and small faults planted in the reference (tools/mutants.py). Of those
which lose points:

- two wrong answers at once are to be told both, or one of them, and no other;
- a wrong answer is to be told its own sentence, alone or as one of two;
- what a mutant is told holds if it fails what the answer that is named fails, in the same way, with three further
  seeds. Nobody knows what is the truth about a mutant; that is the nearest to it. Without a wrong value it says little,
  so that what was told is printed, to be read.

The last line of an exercise is its row of the table in tools/diagnosis.md. Wrong answers are learnt once, and told
apart.
"""

from __future__ import annotations

import ast
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import click
from mutants import judged, mutants_of

from grader.author.cases import AnswerRun
from grader.course.answers import Answer, read_answer
from grader.course.layout import find_course
from grader.course.load import find_exercises, load_course
from grader.grading.behaviour import COSTS, Traces, failures_of, traces_of
from grader.grading.diagnosis import KnownMistakes, diagnose
from grader.grading.lanes import grade_exercise, setup_of
from grader.grading.outcomes import is_inconclusive
from grader.grading.plan import RunPlan, Work
from grader.grading.runtime import Runtime
from grader.model import Course, Exercise, GradedExercise
from grader.model.messages import Setup
from grader.runner.lane import Lane

SEED = 77
FURTHER = (101, 102, 103)


@dataclass
class Tally:
    """What was found of one exercise."""

    own: Counter[str] = field(default_factory=Counter)
    pairs: Counter[str] = field(default_factory=Counter)
    mutants: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))


@dataclass(frozen=True)
class Bench:
    """One exercise in a lane."""

    course: Course
    exercise: Exercise
    setup: Setup
    lane: Lane
    known: KnownMistakes
    tally: Tally

    def graded(self, answer: Answer, seed: int) -> GradedExercise:
        """Grade an answer as a submission, without a diagnosis."""
        plan = RunPlan(
            self.course, [self.exercise], replace(self.setup, seed=seed), runs_untouched=True, with_tries=False
        )
        submission = AnswerRun(self.exercise, "mutant", answer, seed).submission()
        graded = grade_exercise(Work(plan, self.exercise, submission), self.lane, None).graded
        if is_inconclusive(graded):
            graded = grade_exercise(Work(plan, self.exercise, submission, graded), self.lane, None).graded
        return graded

    def told(self, answer: Answer, *, learning: bool) -> tuple[GradedExercise, str | None]:
        """Grade an answer as a submission; return the result and the sentences of its diagnosis."""
        started = time.monotonic()
        graded = self.graded(answer, SEED)
        self.tally.seconds["grading"] += time.monotonic() - started
        return graded, self.diagnosis(graded, answer, learning=learning)

    def diagnosis(self, graded: GradedExercise, answer: Answer, *, learning: bool) -> str | None:
        """Return the sentences of a submission's diagnosis, or None."""
        submission = AnswerRun(self.exercise, "mutant", answer, SEED).submission()
        started = time.monotonic()
        mistakes = diagnose(graded, submission, self.setup, self.lane, self.known).graded.mistakes
        self.tally.seconds["learning" if learning else "diagnosing"] += time.monotonic() - started
        return " And: ".join(each.sentence for each in mistakes) or None

    def wrong_answers(self) -> Iterator[str]:
        """Yield a line for each known wrong answer, which is diagnosed twice: the second time uses known behaviour."""
        for path in self.exercise.wrong:
            answer = read_answer(self.exercise, path)
            graded, _ = self.told(answer, learning=True)
            found = self.diagnosis(graded, answer, learning=False)
            sentence = " ".join(answer.sentence.split())
            if graded.state == "done":
                fate = "keeps its points"
            elif found is None:
                fate = "none" if failures_of(graded.checks) else "cannot be compared"
            else:
                fate = "itself" if found == sentence else "one of two" if sentence in found else "another"
            self.tally.own[fate] += 1
            yield f"  {fate:<18} {path.name}"

    def pairs(self, every: int) -> Iterator[str]:
        """Yield a line for each pair of wrong answers in one submission: which of the two the diagnosis names."""
        assert self.exercise.reference is not None
        reference = self.exercise.reference.read_text(encoding="utf-8")
        texts = {path: path.read_text(encoding="utf-8") for path in self.exercise.wrong}
        apart = [
            pair
            for pair in combinations(texts, 2)
            if not _defined_names(texts[pair[0]]) & _defined_names(texts[pair[1]])
        ]
        for one, other in apart[::every] if every else []:
            source = "\n\n".join((reference, texts[one], texts[other]))
            answer = Answer(self.exercise.reference, source.encode(), "", "")
            graded, found = self.told(answer, learning=True)
            if graded.state == "done":
                continue
            meant = {" ".join(read_answer(self.exercise, path).sentence.split()) for path in (one, other)}
            named = set(_SENTENCES.split(found)) if found else set()
            fates = {0: "none" if not named else "another", 1: "one of both", 2: "both"}
            fate = fates[len(named & meant)] + (", and another" if named - meant and named & meant else "")
            self.tally.pairs[fate] += 1
            yield f"  {fate:<18} {one.stem} + {other.stem}"

    def mutants(self, every: int) -> Iterator[str]:
        """Yield a line for each mutant that loses points: whether its diagnosis holds."""
        assert self.exercise.reference is not None
        text = self.exercise.reference.read_text(encoding="utf-8")
        by_sentence = {
            " ".join(answer.sentence.split()): answer
            for answer in (read_answer(self.exercise, path) for path in self.exercise.wrong)
        }
        for mutant in list(mutants_of(text, judged(text, self.exercise)))[::every]:
            answer = Answer(self.exercise.reference, mutant.source.encode(), "", "")
            graded, found = self.told(answer, learning=False)
            if graded.state == "done":
                self.tally.mutants["keeps its points"] += 1
                continue
            if found is None:
                fate = "none"
            else:
                named = [by_sentence[sentence] for sentence in _SENTENCES.split(found)]
                fate = "holds" if any(self._alike(answer, other) for other in named) else "does not hold"
            self.tally.mutants[fate] += 1
            yield f"  {fate:<18} {mutant.told[:90]}" + (f"\n{'':21}{found}" if found else "")

    def _alike(self, one: Answer, other: Answer) -> bool:
        """Return whether `one` fails each check that `other` fails, and in the same way, with all seeds."""
        for seed in FURTHER:
            mine, theirs = (traces_of(self.graded(each, seed).checks) for each in (one, other))
            costs = {check.id for check in self.lane.checks_of(self.exercise) if check.category == COSTS}
            if not all(mine.get(id) == trace for id, trace in self._lost(theirs).items() if id not in costs):
                return False
        return True

    @staticmethod
    def _lost(traces: Traces) -> Traces:
        return {id: trace for id, trace in traces.items() if trace.lost}


_SENTENCES = re.compile(" (?:Or|And): ")


def _defined_names(text: str) -> set[str]:
    """Return the names of the functions and classes at the top of a wrong answer's source."""
    return {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def row_of(exercise: Exercise, tally: Tally) -> str:
    """Return the row of an exercise in a Markdown table: how its wrong answers and mutants were diagnosed."""
    own, mutants = tally.own, tally.mutants
    lose = own.total() - own["keeps its points"]
    lost = mutants.total() - mutants["keeps its points"]
    told = mutants["holds"] + mutants["does not hold"]
    cells = (exercise.number, lose, own["itself"], own["one of two"], own["another"], own["none"])
    return "| " + " | ".join(map(str, (*cells, own["cannot be compared"], lost, told, mutants["does not hold"]))) + " |"


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--every", default=0, help="Take each N-th mutant; none without this.")
@click.option("--pairs", default=0, help="Take each N-th pair of wrong answers; none without this.")
def command(names: tuple[str, ...], every: int, pairs: int) -> None:
    """Print the diagnosis of each answer, and how many diagnoses are right."""
    course = load_course(find_course(Path.cwd()))
    for exercise in [item for name in names for item in find_exercises(course, name)]:
        setup = replace(setup_of(), seed=SEED)
        with Runtime([exercise], setup) as runtime, closing(runtime.open_lane()) as lane:
            bench = Bench(course, exercise, setup, lane, KnownMistakes(setup), Tally())
            click.echo(f"{exercise.number} {exercise.id}")
            for line in (*bench.wrong_answers(), *bench.pairs(pairs), *(bench.mutants(every) if every else ())):
                click.echo(line)
        tally = bench.tally
        for what, counts in (("wrong answers", tally.own), ("pairs", tally.pairs), ("mutants", tally.mutants)):
            click.echo(f"{what}: " + ", ".join(f"{count} {fate}" for fate, count in counts.most_common()))
        seconds = tally.seconds
        share = seconds["diagnosing"] / seconds["grading"]
        click.echo(
            f"graded in {seconds['grading']:.1f} s, diagnosed in {seconds['diagnosing']:.1f} s ({share:.0%}); "
            f"learnt in {seconds['learning']:.1f} s"
        )
        click.echo(row_of(exercise, tally))


if __name__ == "__main__":
    command()
