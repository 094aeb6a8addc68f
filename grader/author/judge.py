"""What of the runs of an exercise's files does not go as it should, as sentences with their remedies.

One mistake should cost about the rule that it breaks, with any inputs. A wrong answer breaks the rule of the check that
must catch it, and those that its file names in a line `breaks:`. What it loses on others, it loses because a check
needs more than its own rule does. Losses are means over seeds, so that one draw decides nothing.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader.author.cases import CONSTANT_BEGINS, MAY_BE_RIGHT, AnswerRun, rules_naming
from grader.author.text import functions_of, numbered_line
from grader.course.layout import Places
from grader.grading.behaviour import TraceKey, traces_of
from grader.grading.diagnosis import MOST
from grader.lint.asserts import asserting_functions
from grader.model import WITHHELD, Exercise, GradedExercise, Outcome, Speed, Verdict
from grader.model.score import points_text

Runs = Sequence[tuple[AnswerRun, GradedExercise]]
"""Cases, each with what it showed."""

LONGEST_S = 10.0
"""Seconds that the checks of a reference may take."""

LEAST_MARGIN = 3.3
"""So many times the ratio of our own answer is the least that a limit may be; see `grader.speed.ratio` for why."""

MOST_MESSAGES = 24
"""How many different messages a hidden check may give, over all answers and seeds.

Unusual answers are of ten kinds, and a check may look at two functions, each with a name in its messages.
"""

_NUMBERS_APART = ", and put numbers into the story"
_NUMBER = r"(?<![A-Za-z_\d])\d"
"""A number in a message, but not the one in float64."""

_UNCLEAR = "gets no verdict from {}; make its measurement clearer"
_LONGEST_TEXT = 100
_OF_ANSWER = re.compile(r"(raised \w+)(?:: .*)?(?:\n {4}.*)*")
"""An exception with its text and its line, which differ from answer to answer."""


MOST_ON_OTHERS = 0.1
"""Of an exercise's points, what a wrong answer may lose on rules that it keeps."""


MOST_FOR_CASES = 0.1
"""Of an exercise's points, what a parametrised check may get more than a check of one case with its share would."""


@dataclass(frozen=True)
class Loss:
    """The points that one wrong answer loses, in the mean over seeds.

    Attributes:
        name: its file's name.
        rule: the rule of the check that must catch it.
        breaks: the other rules that it breaks, as its file says.
        lost: hundredths of a point by rule; "" for checks that name none.
        undecided: the rules that have an undecided check.
    """

    name: str
    rule: str
    breaks: tuple[str, ...]
    lost: Mapping[str, float]
    undecided: frozenset[str] = frozenset()

    @property
    def broken_rules(self) -> set[str]:
        """The rules that the wrong answer breaks."""
        return {self.rule, *self.breaks}

    @property
    def lost_hundredths(self) -> float:
        """The points that the wrong answer loses in all, in hundredths: 150 for 1.5 points."""
        return sum(self.lost.values())

    @property
    def lost_on_other_rules(self) -> dict[str, float]:
        """The points that the wrong answer loses on rules that it does not break.

        An answer that breaks C1 and loses `{"C1": 100, "C2": 50}` has `{"C2": 50}` here, in hundredths of a point.
        """
        return {rule: self.lost[rule] for rule in sorted_rules(self.lost) if rule not in self.broken_rules}


@dataclass
class Proof:
    """The findings about one exercise, from reading it and running it.

    Attributes:
        exercise: the exercise.
        problems: sentences with their remedies.
        counts: for each kind of case: runs that went as they should, and all runs.
        seconds: the shortest run of the reference.
        unproved: wrong answers whose check needs something that is not here.
        losses: the points that each wrong answer loses.
        notes: sentences on what is worth a look, and no problem.
        messages: the messages that students read, by hidden check.
        saved: the number of its runs whose results an earlier command saved.
    """

    exercise: Exercise
    problems: list[str] = field(default_factory=list)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    seconds: float = 0.0
    unproved: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    messages: dict[str, set[str]] = field(default_factory=dict)
    saved: int = 0


def judge(exercise: Exercise, problems: Sequence[str], runs: Runs, saved: int = 0) -> Proof:
    """Return what was found about an exercise: problems of its files, and of its runs.

    Args:
        exercise: the exercise.
        problems: the problems that reading it showed.
        runs: its runs: each case with the exercise as it was graded.
        saved: the number of these runs whose results an earlier command saved.
    """
    proof = Proof(exercise, [*problems], saved=saved, losses=losses_of(runs))
    _judge_runs(proof, runs)
    _judge_messages(proof, runs)
    proof.problems += margin_problems(exercise, runs)
    proof.problems += loss_problems(exercise, proof.losses)
    proof.problems += _constant_problems(exercise, runs)
    proof.problems += unsteady_problems(exercise, runs)
    proof.notes += [*_full_marks_notes(exercise, runs), *alike_notes(exercise, runs), *share_notes(exercise, runs)]
    proof.notes += weak_input_notes(exercise, runs)
    return proof


def _judge_runs(proof: Proof, runs: Runs) -> None:
    """Add the runs of an exercise to its proof.

    Runs that ended as they should are counted, and a problem is added for each other run.
    """
    seen: dict[tuple[Path | None, str], tuple[str, set[Path]]] = {}
    for case, graded in runs:
        path = case.answer.path
        if case.kind == "reference":  # the shortest of its runs: a busy machine makes others longer
            seconds = sum(row.outcome.seconds for row in graded.checks)
            proof.seconds = min(proof.seconds or seconds, seconds)
        # A check that is at fault hides no other one that fails.
        broken = [*_quote_checks(graded, "{} is at fault itself {}; fix it", Verdict.BROKEN)][:1]
        problems = [*broken, *_run_problems(case, graded)]
        good, total = proof.counts.get(case.kind, (0, 0))
        proof.counts[case.kind] = (good + (not problems), total + 1)
        for check, problem in problems:
            # Twenty seeds may show one problem twenty times; it is reported with the first of them. A check that is at
            # fault is so with many answers, and is one problem.
            seed = "" if case.kind == "starter" else f" (first with --seed {case.seed})"
            line = f"{_place_of_answer(case)}: {problem}{seed}"
            key = (None, problem) if (check, problem) in broken else (path, check.partition("[")[0] or problem)
            seen.setdefault(key, (line, set()))[1].add(path)
        if case.kind == "wrong" and not problems and _outcome_of_named_check(case, graded).verdict is Verdict.NOT_RUN:
            proof.unproved += [path.name] * (path.name not in proof.unproved)
    for line, paths in seen.values():
        proof.problems.append(line if len(paths) == 1 else f"{line}; so it is with {len(paths) - 1} more answers")
    if proof.seconds > LONGEST_S:
        text = f"the reference takes {proof.seconds:.1f} s; make inputs smaller, {LONGEST_S:g} s is the limit"
        proof.problems.append(f"{Places.of(proof.exercise).shown.as_posix()}: {text}")


def _run_problems(case: AnswerRun, graded: GradedExercise) -> Iterator[tuple[str, str]]:
    """Yield a sentence for each reason why a run did not end as it should.

    It is, for example, "the starter passes every check; leave something for the student to do, or fix the checks". Each
    has the check that it is about, such as "check_sum"; "" if it is about all of them.
    """
    match case.kind:
        case "starter" if _has_full_marks(graded):
            yield "", "the starter passes every check; leave something for the student to do, or fix the checks"
        case "unusual" if _has_full_marks(graded) and case.unusual_result not in MAY_BE_RIGHT:
            rules = " and ".join(rules_naming(case.exercise, case.function))
            said = f"this unusual answer gets full marks, and breaks {rules}; add a check that looks at what comes back"
            yield "", said
        case "reference" | "right":
            what = "the reference" if case.kind == "reference" else "this right answer"
            lost = [verdict for verdict in Verdict if verdict.is_lost]
            yield from _quote_checks(graded, f"{what} does not pass {{}} {{}}; fix one of the two", *lost)
            yield from _quote_checks(graded, f"{what} {_UNCLEAR}", Verdict.INCONCLUSIVE)
        case "wrong":
            problem = _not_caught_problem(case, graded) or _no_loss_problem(case, graded)
            yield from [("", problem)] * bool(problem)


def _has_full_marks(graded: GradedExercise) -> bool:
    verdicts = [row.verdict for row in graded.checks if row.verdict.is_decided or row.verdict is Verdict.BROKEN]
    return bool(verdicts) and all(verdict is Verdict.PASSED for verdict in verdicts)


def _quote_checks(graded: GradedExercise, said: str, *verdicts: Verdict) -> Iterator[tuple[str, str]]:
    """Yield a sentence about each check that has one of these verdicts, with the name of the check.

    "{} is at fault itself {}; fix it" becomes "check_sum is at fault itself (KeyError: 'x', line 12: assert x); fix
    it".

    Args:
        graded: the exercise of one run.
        said: the sentence, with one `{}` for the name of the check, and another for its reason and line.
        *verdicts: the verdicts, of which the check has one.
    """
    for outcome in (row.outcome for row in graded.checks if row.verdict in verdicts):
        reason = (outcome.detail.strip() or outcome.message).split("\n")[0]
        name = f"check_{outcome.check}"
        yield name, said.format(name, f"({reason}{_line_of_end(graded.exercise, outcome)})")


def _not_caught_problem(case: AnswerRun, graded: GradedExercise) -> str:
    """Return a sentence if the check that must catch a wrong answer does not; else "".

    The answer's file names this check. The sentence is, for example, "check_sum does not catch this wrong answer (no
    check did); fix the check, or name another".
    """
    caught = [row.check.id for row in graded.checks if row.verdict in (Verdict.FAILED, Verdict.CRASHED)]
    others = f"{', '.join(caught)} did" if caught else "no check did"
    outcome = _outcome_of_named_check(case, graded)
    match outcome.verdict:
        case Verdict.INCONCLUSIVE:
            return f"it {_UNCLEAR}".format(f"check_{outcome.check}")
        case Verdict.ERROR | Verdict.SKIPPED:  # that loses the points, but the student would read the wrong message
            reason = outcome.message.split("\n")[0]
            return f"check_{outcome.check} could not judge it ({reason}; {others}); name another"
        case Verdict.PASSED:
            return f"check_{outcome.check} does not catch this wrong answer ({others}); fix the check, or name another"
    return ""


def _no_loss_problem(case: AnswerRun, graded: GradedExercise) -> str:
    """Return a sentence if a wrong answer is caught and loses no points; else ""."""
    score, named = graded.score, next(row for row in graded.checks if row.check.id == case.answer.caught_by)
    if not score.earned or score.earned < score.possible - score.undecided or not named.verdict.is_lost:
        return ""
    rules = " and ".join(sorted_rules({named.check.contract, *case.answer.breaks} - {""}))
    return (
        f"it breaks {rules or 'what ' + case.answer.caught_by + ' examines'} and gets full marks, as "
        f"check_{case.answer.caught_by} is worth no points; give that check a share"
    )


def _outcome_of_named_check(case: AnswerRun, graded: GradedExercise) -> Outcome:
    """Return the outcome of the check that must catch a wrong answer.

    The answer's file names this check.
    """
    return next(row.outcome for row in graded.checks if row.check.id == case.answer.caught_by)


def _place_of_answer(case: AnswerRun) -> str:
    places, name = Places.of(case.exercise), case.answer.path.name
    if case.kind in ("wrong", "right"):
        return places.known_answer(case.kind, name)
    folder = (places.shown if case.kind == "starter" else places.staff).as_posix()
    return f"{folder}/{name}" if case.kind in ("starter", "reference") else f"{folder}: {name}"


def _line_of_end(exercise: Exercise, outcome: Outcome) -> str:
    """Return the line of the check file at which a check ended, such as ", line 12: assert x"; "" if unknown."""
    check = f"check_{outcome.check.partition('[')[0]}"
    for path in (exercise.shown_checks, exercise.hidden_checks):
        if path is not None and outcome.line and check in functions_of(path):
            return f", {numbered_line(path, outcome.line)}"
    return ""


def _full_marks_notes(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """Yield a question to the author if unusual answers that may be right got full marks.

    It has, for example, "double may give right_in_float64: is there a rule on dtypes?", and the line to write into the
    reference if not.
    """
    functions = defaultdict[str, list[str]](list)
    for case, graded in runs:
        if (
            case.unusual_result in MAY_BE_RIGHT
            and case.unusual_result not in case.answer.fine
            and _has_full_marks(graded)
        ):
            functions[case.unusual_result].append(case.function)
    if functions:
        questions = (f"{', '.join(names)} may give {gives}: is there a rule on {MAY_BE_RIGHT[gives]}?"
                 for gives, names in functions.items())  # fmt: skip
        where, line = Places.of(exercise).reference.as_posix(), f"also right: {', '.join(functions)}"
        yield f"{where}: full marks: {' '.join(questions)} If not, write  {line}  into its docstring"


def _constant_problems(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """Yield a problem for each rule on which answers that always return the same earn points.

    The problem names the checks that these answers pass. A check that asserts nothing has a problem of its own.
    """
    empty = _checks_without_asserts(exercise)
    earned = defaultdict[str, dict[str, int]](dict)
    passed = defaultdict[str, list[str]](list)
    for case, graded in runs:
        for row in graded.checks if case.kind == "constant" else ():
            if row.score.earned:
                rule, name = row.check.contract, case.answer.path.name
                earned[rule][name] = earned[rule].get(name, 0) + row.score.earned
                passed[rule] += [row.check.id] * (row.check.id not in passed[rule])
    for rule, by_answer in earned.items():
        without = [check for check in passed[rule] if check.partition("[")[0] in empty]
        for check in without:
            yield (
                f"{empty[check.partition('[')[0]].as_posix()}: check_{check}: it asserts nothing, so every answer that "
                "does not raise has its points; assert what student code returns, or remove the check"
            )
        if rest := [check for check in passed[rule] if check not in without]:
            where = Places.of(exercise).description.as_posix()
            first, *others = sorted(by_answer, key=lambda name: -by_answer[name])
            answers = first + "".join(f", or {name.removeprefix(CONSTANT_BEGINS)}" for name in others)
            yield (
                f"{where}: values: {points_text(by_answer[first])} points are for nothing: {answers} "
                f"({', '.join(rest)}); name the checks or rules that show a right value, and that no constant passes"
            )


def _checks_without_asserts(exercise: Exercise) -> dict[str, Path]:
    """Return the checks that assert nothing, by id, each with the place of its file."""
    places, found = Places.of(exercise), dict[str, Path]()
    files = ((places.shown_checks, exercise.shown_checks), (places.hidden_checks, exercise.hidden_checks))
    for place, path in files:
        checks = {name for name in functions_of(path) if name.startswith("check_")} if path is not None else set()
        if path is not None and checks:
            names = checks - asserting_functions(path.read_text(encoding="utf-8"))
            found |= {name.removeprefix("check_"): place for name in names}
    return found


def _judge_messages(proof: Proof, runs: Runs) -> None:
    """Add to a proof what hidden checks say about their inputs.

    A problem is added for each check with a message that is withheld from students, because not all of its words are in
    the check file. Another one is added for each check with too many different messages.
    """
    where = Places.of(proof.exercise).hidden_checks.as_posix()
    withheld: dict[str, str] = {}
    for row in (row for _, graded in runs for row in graded.checks if not row.check.shown):
        messages = proof.messages.setdefault(row.check.id, set())
        if row.outcome.message and not row.outcome.from_text:  # in what follows from a text alone, no input shows
            messages.add(_OF_ANSWER.sub(r"\1", row.outcome.message))
        if text := re.search(rf"^{re.escape(WITHHELD)}: (.{{0,{_LONGEST_TEXT}}})", row.outcome.detail, re.MULTILINE):
            withheld.setdefault(row.check.id, text[1])
    proof.problems += [
        f"{where}: check_{id}: students cannot read its message ({text}), as not all of its words are in the file; "
        f"name the property in words of the file{_NUMBERS_APART if re.search(_NUMBER, text) else ''}"
        for id, text in withheld.items()
    ]
    proof.problems += [
        f"{where}: check_{id}: it gave {len(messages)} different messages about its hidden inputs, at most "
        f"{MOST_MESSAGES} are allowed; say what differs in the story"
        for id, messages in proof.messages.items()
        if len(messages) > MOST_MESSAGES
    ]


def margin_problems(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """Yield a sentence for each limit on speed that is too near to the reference's own ratio.

    A limit must be at least 3.3 times that ratio, so that a single measurement decides, on any machine. If the
    reference is compared with itself, its ratio is 1, and a limit of 3 is too near.
    """
    compared = defaultdict[tuple[str, int], list[Speed]](list)
    for row in (row for case, graded in runs if case.kind == "reference" for row in graded.checks):
        for place, speed in enumerate(row.outcome.speed):
            compared[row.check.id, place].append(speed)
    for (check, _), speeds in compared.items():
        limit = speeds[0].at_most
        # Where the ratio lies at least: load makes a ratio uncertain, and must not refuse a limit.
        own = statistics.median(speed.low for speed in speeds)
        if limit >= 1:  # a multiple of the reference's own time, which is 1
            own = max(1.0, own)
        if limit < LEAST_MARGIN * own:
            where = f"{Places.of(exercise).staff.as_posix()}: check_{check}"
            yield f"{where}: {_near_limit_text(speeds[0], own, len(speeds))}"


def _near_limit_text(speed: Speed, own: float, runs: int) -> str:
    margin = f"only {speed.at_most / own:.2g} times from the limit, and {LEAST_MARGIN:g} is needed"
    many = f"the median of {runs} run{'s' * (runs > 1)}"
    if speed.at_most >= 1:
        what = f"our own answer takes {own:.2g} times as long as {speed.against}, at most {speed.at_most:g} is allowed"
        return f"{what}; that is {margin} ({many}): write at_most={LEAST_MARGIN * own:.2g} or more"
    faster = f"{1 / own:,.3g} times as fast as {speed.against}, at least {1 / speed.at_most:.3g} is expected"
    return (
        f"our own answer is {faster}; that is {margin} ({many}): write at_least={1 / (LEAST_MARGIN * own):.3g} or less"
    )


# -- what wrong answers lose -------------------------------------------------------------------------------------------


def losses_of(runs: Runs) -> list[Loss]:
    """Return the points that each wrong answer among the cases loses, as means over its runs."""
    by_file = defaultdict[str, list[tuple[AnswerRun, GradedExercise]]](list)
    for case, graded in runs:
        if case.kind == "wrong":
            by_file[case.answer.path.name].append((case, graded))
    return list(map(_mean_loss, by_file.values()))


def _mean_loss(runs: Runs) -> Loss:
    """Return the points that a wrong answer loses on each rule, as means over its runs.

    Each run has another seed.
    """
    case, first = runs[0]
    answer = case.answer
    rule = next((row.check.contract for row in first.checks if row.check.id == answer.caught_by), "")
    lost, undecided = Counter[str](), Counter[str]()
    for _, graded in runs:
        for row in graded.checks:
            lost[row.check.contract] += row.score.possible - row.score.earned - row.score.undecided - row.held_back
            undecided[row.check.contract] += row.score.undecided
        # What is held back is lost on the rule that has the cap; or no value was right, and that is the mistake itself.
        lost[graded.held_by or rule] += graded.held_back
    mean = {name: points / len(runs) for name, points in lost.items() if points}
    return Loss(answer.path.name, rule, answer.breaks, mean, frozenset(+undecided))


def loss_problems(exercise: Exercise, losses: Sequence[Loss]) -> Iterator[str]:
    """Yield a problem for each wrong answer whose lost points contradict the rules it breaks.

    If the docstring of a wrong answer says `breaks: C2`, a problem is yielded if the exercise has no rule C2, or if the
    answer loses no points on C2. Another problem is yielded if an answer loses more than a tenth of the exercise's
    points on rules that it does not break.

    Args:
        exercise: the exercise.
        losses: the points that each wrong answer loses, as `losses_of` returns them.
    """
    for loss in losses:
        where = Places.of(exercise).known_answer("wrong", loss.name)
        for rule in loss.breaks:
            if rule not in exercise.contract:
                yield f"{where}: breaks: there is no rule {rule}; the rules are {', '.join(exercise.contract)}"
            # Where a check could not be run, nothing can be lost on its rule.
            elif rule not in loss.lost and rule not in loss.undecided:
                yield f"{where}: breaks: it loses nothing on {rule}; remove that, or write a check that notices it"
        others = loss.lost_on_other_rules
        if sum(others.values()) > MOST_ON_OTHERS * exercise.points:
            rules = ", ".join(sorted_rules({*loss.broken_rules, *others} - {""}))
            broken = " and ".join(sorted_rules(loss.broken_rules))
            lost = f"{as_points_text(sum(others.values()))} of {as_points_text(exercise.points)} points"
            yield (
                f"{where}: it breaks {broken}, and loses {lost} on rules that it keeps "
                f"({losses_text(others)}); let the checks of these need no more than their rule, or, if it breaks them "
                f"by its nature, write  breaks: {rules}"
            )


def unsteady_problems(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """Yield a sentence for each check that a wrong answer passes with some seeds only.

    With other seeds, the check fails. Luck would decide what such an answer earns.
    """
    seen = defaultdict[tuple[str, str], dict[bool, int]](dict)
    for case, graded in runs:
        for row in (row for row in graded.checks if case.kind == "wrong" and row.verdict.is_decided):
            seen[case.answer.path.name, row.check.id].setdefault(row.verdict is Verdict.PASSED, case.seed)
    for (name, check), seeds in seen.items():
        if len(seeds) > 1:
            yield (
                f"{Places.of(exercise).known_answer('wrong', name)}: it passes check_{check} with --seed {seeds[True]} "
                f"and not with --seed {seeds[False]}, so that luck decides what it earns; draw inputs that always "
                "show the mistake, or never"
            )


def alike_notes(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """Yield a sentence for each group of wrong answers that behave alike although their sentences differ.

    A check ends at the first input that shows a mistake. Unless a later input distinguishes the answers, which only a
    diagnosis examines, a student who makes one of these mistakes reads the sentences of all of them.
    """
    seen = defaultdict[str, set[tuple[int, frozenset[tuple[str, TraceKey]]]]](set)
    groups = defaultdict[frozenset[tuple[int, frozenset[tuple[str, TraceKey]]]], list[str]](list)
    sentences = {case.answer.path.name: case.answer.sentence for case, _ in runs}
    for case, graded in runs:
        traces = traces_of(graded.checks) if case.kind == "wrong" else {}
        if any(trace.lost for trace in traces.values()):
            seen[case.answer.path.name].add((case.seed, frozenset((id, one.key) for id, one in traces.items())))
    for name, done in seen.items():
        groups[frozenset(done)].append(name)
    for names in groups.values():
        different = len({sentences[name] for name in names})
        if different > 1:
            reads = "both sentences" if different <= MOST else "none of their sentences"
            yield (
                f"{Places.of(exercise).staff.as_posix()}: the wrong answers {', '.join(names)} behave alike with every "
                "seed, up to the input at which each check ends. Unless a later input distinguishes them, a student "
                f"with one of these mistakes reads {reads}; merge them, or add a check that distinguishes them"
            )


def weak_input_notes(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """Yield a sentence for each check that begins with an empty or constant input.

    A check counts if it fails for a wrong answer at its first call, and has other calls. With such an input many
    mistakes have the same effect, and the other calls, which could distinguish them, are not made.
    """
    first = next((graded.checks for case, graded in runs if case.kind == "reference"), ())
    calls = {row.check.id: row.outcome.calls for row in first}
    ended = defaultdict[str, dict[str, None]](dict)
    for case, graded in runs:
        for row in (row for row in graded.checks if case.kind == "wrong" and row.outcome.at_weak_input):
            if calls.get(row.check.id, 0) > 1:
                ended[row.check.id][case.answer.path.name] = None
    for check, names in ended.items():
        yield (
            f"{Places.of(exercise).staff.as_posix()}: check_{check}: its first call has an empty or constant input, at "
            f"which it ends for {', '.join(names)}; many mistakes do the same there: begin with an input that tells "
            "them apart"
        )


def share_notes(exercise: Exercise, runs: Runs) -> Iterator[str]:
    """Yield a sentence for each parametrised check whose cases may be worth too many points.

    A check with `share` 2 and 5 cases counts as 10 shares of the exercise's points, and not as 2.
    """
    rows = next((graded.checks for case, graded in runs if case.kind == "reference"), ())
    cases = Counter(row.check.id.partition("[")[0] for row in rows)
    shares, possible = Counter[str](), Counter[str]()
    for row in rows:
        name = row.check.id.partition("[")[0]
        shares[name] += row.check.share
        possible[name] += row.score.possible
    total = sum(shares.values())
    for name in (name for name, count in cases.items() if count > 1 and shares[name]):
        each = shares[name] // cases[name]
        if shares[name] / total - each / (total - shares[name] + each) > MOST_FOR_CASES:
            yield (
                f"{Places.of(exercise).staff.as_posix()}: check_{name}: its share of {each} counts for each of its "
                f"{cases[name]} cases, so that it has {shares[name]} of {total} shares and "
                f"{as_points_text(possible[name])} of {as_points_text(exercise.points)} points; if that is too much, "
                "give the other checks larger shares"
            )


def sorted_rules(rules: Iterable[str]) -> list[str]:
    """Sort rules by number: C2 comes before C10."""
    return sorted(rules, key=lambda rule: (len(rule), rule))


def losses_text(lost: Mapping[str, float]) -> str:
    """Return as text how many points are lost on each rule, such as "C1 2.5, C2 1".

    Args:
        lost: hundredths of a point by rule; the rule "" stands for checks that name no rule.
    """
    return ", ".join(f"{rule or 'no rule'} {as_points_text(lost[rule])}" for rule in lost)


def as_points_text(hundredths: float) -> str:
    """Return hundredths of a point, such as a mean of 250.3, as text in points: "2.5"."""
    return points_text(round(hundredths))
