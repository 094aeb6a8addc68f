"""A graded exercise with the sentence of the known wrong answer that it behaves like.

Only a submission that lost points is diagnosed, and each function by itself: the failing checks that call one function
are explained together, independently of the others. What explains them is a wrong answer that does in each of them
what the submission does, with several seeds of our own: the same verdicts, values, kinds, dtypes, errors and counts.
Wherever else it fails, the submission must fail in the same way. Wrong answers are sorted out by what their files say,
then by the check that must catch them, so that few are run in full, and each once for all students. The seeds are the
same for everybody, and so are the sentences. A check that draws no number ends alike with each of them: what the graded
run showed counts, and it is not run again.

What no wrong answer explains alone may be two mistakes at once in one function, each of which explains some of its
failing checks. A check that both fail ends at the first of them. Beside further mistakes, a wrong answer is named for
the checks that it explains, if in all calls that it gets wrong the submission returns the same. Of a result with
several items, such as a dict, each item is compared: another one may have the other mistake. What none explains gets a
digest of what it does with the first of the seeds, by which `unexplained` groups those that behave alike.

Many mistakes do the same with an empty or a constant input, and a check ends at the first that fails. So before a wrong
answer is named, its functions and the submission's are called with all inputs of all checks, and must return the same,
but for a few calls in which the submission is right, and for those in which right answers differ from each other.

A function that uses another one of the submission's may fail only because that one does. While it does, a mistake is
named for the first only if it explains the failures of both, or if a known mistake that explains the other's leaves the
reference's function right, which uses it, too.

A copy without wrong answers has them sealed, and no reference, which is needed to make all calls of a check: there, a
mistake is named only if it explains all failures of a function. An exercise that has neither is compared with nothing,
so nothing of it is run again.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, islice
from typing import NamedTuple

from grader.course.answers import Answer, as_submitted, changed_functions, read_answer
from grader.grading import behaviour
from grader.grading.behaviour import (
    COSTS,
    SEALED_SEEDS,
    Names,
    Sealed,
    Trace,
    Traces,
    behaviour_of,
    failures_by_function,
    failures_of,
    suspects_of,
    traces_of,
)
from grader.grading.callers import FailingCallees, with_callees_named
from grader.grading.store import Keys, Store, digest_of, machine_digest
from grader.intake.code import functions_used
from grader.intake.collect import names_in
from grader.intake.match import starter_names
from grader.model import Exercise, GradedExercise, Mistake, Submission, Verdict
from grader.model.check import ENDED, ITEM
from grader.model.errors import CourseError
from grader.model.messages import CheckSelection, Setup
from grader.model.progress import Progress
from grader.model.score import Causes, function_of
from grader.runner.lane import Lane

SEEDS = (0, 1, 2, 3)
"""Those with which answers are compared: two, and the others where more than one wrong answer is left. The first is
that of a student's own copy, which need not be run again then."""

MOST = 2
"""So many sentences are printed where wrong answers behave alike: more would be a guess."""

MOST_MISTAKES = 4
"""So many mistakes of one exercise are printed, or one for each function where more functions fail."""

EITHER = " Or: "
"""Between the sentences of two mistakes that behave alike."""

MOST_ON_OTHERS = 0.2
"""Of an exercise's points, what may be lost on rules that a wrong answer keeps; `grade verify` allows it half."""

LEAST_AGREEMENT = 0.75
"""In so many of the calls that a wrong answer gets wrong, a submission returns the same as it, and is right in others.
So who copies by another function, which copies nothing in a corner case, still reads that it copies."""

_WHAT = "Comparing with known mistakes"


class _ComparingProgress(Progress):
    """A progress that shows one text for all checks: their titles would look as if the exercise was graded again."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def running(self, what: str, seconds: float) -> None:
        """Report "Comparing with known mistakes" in place of the title of the check that runs.

        Args:
            what: the title of the check, which is ignored.
            seconds: the seconds that it has run so far.
        """
        del what
        self._progress.running(_WHAT, seconds)


class CheckTraces(NamedTuple):
    """How checks ended, and whether one may have run out of time on a busy machine only.

    Attributes:
        traces: how each check ended, such as `{"shape": Trace(Verdict.FAILED, ...)}`.
        starved: True if the deadline ended a run that had waited for a processor: alone, it might have been in time.
    """

    traces: dict[str, Trace]
    starved: bool = False


class Diagnosed(NamedTuple):
    """An exercise with its diagnosis, and whether a run for it was starved of a core."""

    graded: GradedExercise
    starved: bool = False


Results = Mapping[str, Mapping[str, Sequence[str]]]
"""By check and by function, digests of what each call gave."""


_Ids = Collection[str]
"""Of checks."""

_ChecksByAnswer = Mapping[Answer, frozenset[str]]
"""For each wrong answer, the failing checks in which it does what the submission does."""

_Call = tuple[str, str, int, str]
"""A check's id, a function, the number of its call in that check, and an item of its result; "" for all of the result.
"""

_ByCall = dict[_Call, str]
"""The digest of what each call gave."""


class _Scope(NamedTuple):
    """The ids of checks, and the functions, whose calls in these checks are compared."""

    checks: frozenset[str]
    functions: frozenset[str]


class KnownMistakes:
    """The behaviour of known wrong answers, which it saves in the store. Lanes that work at once may share it.

    A wrong answer runs when it is first needed, check by check, and like any submission: confined, in the same lane.
    Its inputs come from seeds of our own, so that one run serves for all students. What is saved are digests, from
    which nobody learns inputs and expected values.

    Args:
        setup: the set-up of the run.
        store: the store in which it is saved; None for no store.
    """

    def __init__(self, setup: Setup, store: Store | None = None) -> None:
        self._store = store
        self._keys = Keys()
        self._setup = setup
        self._traces: dict[str, dict[str, Trace]] = {}
        self._begun: set[tuple[str, str]] = set()

    @functools.cached_property
    def _machine(self) -> str:
        return machine_digest(self._setup)

    @property
    def compared_count(self) -> int:
        """Return how many wrong answers were compared so far.

        Those whose traces were saved in an earlier run count, too.
        """
        return len(self._begun)

    def traces(self, lane: Lane, answer: Answer, exercise: Exercise, seed: int, checks: _Ids) -> CheckTraces:
        """Return how checks end for a wrong answer; run only the checks for which that is unknown.

        For example, `{"shape": Trace(Verdict.FAILED, ...)}` is in the result if the wrong answer fails the check
        `shape`. The result is kept, and saved in the store.

        Args:
            lane: the check process, with its workers, that runs the checks.
            answer: the wrong answer.
            exercise: the exercise that it answers.
            seed: the seed of the random inputs.
            checks: the ids of the checks.
        """
        self._begun.add((exercise.id, str(answer.path)))
        traces, starved = dict[str, Trace](), False
        # Costs hardly depend on the inputs, and some checks draw none: these are run with one seed, for all.
        if seed != SEEDS[0]:
            costs = {check.id for check in lane.checks_of(exercise) if check.category == COSTS}
            first, starved = self.traces(lane, answer, exercise, SEEDS[0], checks)
            traces = {id: trace for id, trace in first.items() if trace.same_for_all or id in costs}
        wanted = set(checks) - traces.keys()
        key, mine = self._key_and_traces(answer, exercise, seed, "traces by function")
        # Two lanes may run the same at once: they get equal traces, and neither need wait.
        if missing := wanted.difference(mine):
            new, was_starved = traces_in(lane, exercise, as_submitted(exercise, answer.source), seed, missing)
            starved |= was_starved
            mine.update(new)
            if self._store is not None:
                self._store.save_traces(key, {id: row for id, row in new.items() if row.verdict.is_repeatable})
        return CheckTraces(traces | {id: mine[id] for id in wanted}, starved)

    def results(self, lane: Lane, answer: Answer, exercise: Exercise, seed: int, checks: _Ids) -> tuple[Results, bool]:
        """Return digests of what a wrong answer returns for all inputs of some checks.

        A check runs only if its results are not known yet.

        Args:
            lane: the check process, with its workers, that runs the checks.
            answer: the wrong answer.
            exercise: the exercise that it answers.
            seed: the seed of the random inputs.
            checks: the ids of the checks.

        Returns:
            The digests by check and by function, such as `{"shape": {"total": ["8207b457e229:8207b457e229"]}}`; and
            whether a run was starved: it waited for a processor until the deadline ended it.
        """
        key, mine = self._key_and_traces(answer, exercise, seed, "results")
        starved = False
        if missing := set(checks).difference(mine):
            files = as_submitted(exercise, answer.source)
            new, starved = results_in(lane, exercise, files, seed, missing)
            rows = {id: Trace(Verdict.PASSED, json.dumps(row)) for id, row in new.items()}
            mine.update(rows)
            if self._store is not None and not starved:
                self._store.save_traces(key, rows)
        return {id: json.loads(mine[id].story) for id in checks if id in mine}, starved

    def _key_and_traces(self, answer: Answer, exercise: Exercise, seed: int, kind: str) -> tuple[str, dict[str, Trace]]:
        """Return the key of a wrong answer's saved traces, and the traces known so far.

        Digests of results are saved as traces, too, under a key of their own.

        Args:
            answer: the wrong answer.
            exercise: the exercise that it answers.
            seed: the seed of the inputs.
            kind: the part of the key that says what is saved: "traces by function" or "results".

        Returns:
            The key, and the traces by the check's id. The caller adds new traces to this dict.
        """
        key = digest_of(kind, answer.source, self._keys.judge_digest(exercise), self._machine, str(seed))
        if key not in self._traces:
            self._traces.setdefault(key, self._store.traces(key) if self._store is not None else {})
        return key, self._traces[key]


def results_in(
    lane: Lane, exercise: Exercise, files: Mapping[str, bytes], seed: int, checks: _Ids
) -> tuple[Results, bool]:
    """Return digests of what a submission returns for all inputs of these checks.

    Args:
        lane: the lane that runs them.
        exercise: the exercise that they answer.
        files: the files of the submission, by name.
        seed: the seed of the inputs.
        checks: their ids.

    Returns:
        The digests by check and by function, such as `{"shape": {"total": ["8207b457e229:8207b457e229"]}}`, and whether
        the run was starved of a core.
    """
    selection = CheckSelection(frozenset(checks), again=True, with_tries=False, compares=True)
    run = lane.run(exercise, files, seed, selection=selection, progress=_ComparingProgress(lane.progress))
    # A check process that was lost, or a fault of ours, says nothing.
    came = [one for one in run.outcomes if one.verdict is Verdict.NOT_RUN]
    return {one.check: {name: [*rows] for name, rows in one.results.items()} for one in came}, run.starved


def traces_in(lane: Lane, exercise: Exercise, files: Mapping[str, bytes], seed: int, checks: _Ids) -> CheckTraces:
    """Run checks for a submission, and return how each of them ended.

    Args:
        lane: the check process, with its workers, that runs the checks.
        exercise: the exercise that the submission answers.
        files: the files of the submission, by name.
        seed: the seed of the random inputs.
        checks: the ids of the checks.
    """
    if not checks:
        return CheckTraces({})
    categories = {check.id: check.category for check in lane.checks_of(exercise)}
    # What is too slow decides at once: it costs nobody a point.
    selection = CheckSelection(frozenset(checks), again=True, with_tries=False)
    run = lane.run(exercise, files, seed, selection=selection, progress=_ComparingProgress(lane.progress))
    return CheckTraces({one.check: Trace.of(one, categories[one.check]) for one in run.outcomes}, run.starved)


def diagnose(
    graded: GradedExercise, submission: Submission, setup: Setup, lane: Lane, known: KnownMistakes
) -> Diagnosed:
    """Add to a graded exercise the sentences of the known mistakes that it shows.

    A known mistake is a wrong answer of the course with a sentence such as "You use `view`; use `reshape`.". If the
    submission fails as this answer does, the student reads the sentence. A function that fails like no wrong answer
    gets a digest of its failures, by which submissions are grouped. The message of a check no longer sends the student
    to a function whose fault is seen not to matter there.

    Args:
        graded: the exercise after grading.
        submission: the submission that it belongs to.
        setup: the set-up of the run.
        lane: the check process, with its workers, in which it was graded.
        known: what is known of how the wrong answers behave.

    Raises:
        StartError: a process of ours cannot be started.
        ConfinementError: student code cannot be confined as well as the set-up requires.
    """
    if not can_diagnose(graded):
        return Diagnosed(graded)
    comparison = _Comparison(graded, submission, setup, lane, known)
    mistakes = comparison.once(islice(comparison.mistakes(), max(MOST_MISTAKES, len(failures_of(graded.checks)))))
    if comparison.harmless:
        graded = with_callees_named(graded, submission.files_of(graded.exercise).files, comparison.harmless)
    behaviours = comparison.behaviours({id for mistake in mistakes for id in mistake.checks})
    return Diagnosed(replace(graded, mistakes=mistakes, behaviours=behaviours), comparison.starved)


def has_known_mistakes(exercise: Exercise) -> bool:
    """Return whether the exercise has wrong answers or sealed mistakes to compare with."""
    return bool(exercise.wrong) or exercise.mistakes is not None


def can_diagnose(graded: GradedExercise) -> bool:
    """Return whether an exercise can be compared with wrong answers.

    That is so if the student has started it, all checks ran, and a check that can be compared failed.
    """
    return graded.state == "started" and not graded.left_out and bool(failures_of(graded.checks))


class _Comparison:
    """The comparison of one exercise of a submission with the known wrong answers.

    Attributes:
        starved: True if a run of the submission or of a wrong answer was starved of a core.
        harmless: the faulty functions that are seen not to make a check fail although the function under test uses
            them, by the check's id. `mistakes` fills it.
    """

    def __init__(
        self, graded: GradedExercise, submission: Submission, setup: Setup, lane: Lane, known: KnownMistakes
    ) -> None:
        self.starved = False
        self.harmless: dict[str, frozenset[str]] = {}
        self._graded = graded
        self._exercise = graded.exercise
        self._files = submission.files_of(graded.exercise).files
        self._lane = lane
        self._known = known
        self._rows = {row.check.id: row for row in graded.checks}
        self._costs = {row.check.id for row in graded.checks if row.check.category == COSTS}
        traces = traces_of(graded.checks)
        self._passing = {id for id, trace in traces.items() if not trace.lost}
        self._failing = {id: trace for id, trace in traces.items() if trace.lost}
        self._ran: dict[int, Traces] = {}
        self._names: dict[frozenset[str], frozenset[str]] = {}
        self._ran_with = setup.seed_of(submission.author)
        causes = Causes.of(graded.checks)
        self._suspects = suspects_of(graded.checks)
        self._callees = FailingCallees(graded.checks, self._files)
        self._order = [row.check.id for row in (*filter(None, [causes.cause]), *causes.same, *causes.lost)]

    def behaviours(self, explained: _Ids) -> dict[str, str]:
        """Return, for each function that no known mistake explains, a digest of its failures.

        An example is `{"total": "3f9a1c..."}`. Functions with equal digests fail alike. The failing checks are run with
        the first seed for this. If the exercise has no known mistakes, no check is run: the result is empty unless the
        graded run had the same inputs.

        Args:
            explained: the ids of the checks that known mistakes explain.
        """
        groups = failures_by_function(self._graded.checks).items()
        left = {name: ids for name, ids in groups if ids.isdisjoint(explained)}
        known = self._failing if has_known_mistakes(self._exercise) else self._traces_of_graded_run(SEEDS[0])
        if not left or known.keys() != self._failing.keys():
            return {}
        traces = self.run(SEEDS[0])
        by_function: dict[str, set[str]] = {}
        for name, ids in left.items():
            by_function.setdefault("" if name.endswith(" ") else name, set()).update(ids)
        return {
            name: digest for name, ids in by_function.items() if (digest := behaviour_of(_select_traces(traces, ids)))
        }

    def mistakes(self) -> Iterator[Mistake]:
        """Yield the known mistakes that explain failing checks.

        They come in the order in which a reader meets the checks.
        """
        groups = sorted(failures_of(self._graded.checks), key=self._first_index)
        if self._exercise.wrong:
            yield from self._mistakes_from_files([group | self._checks_with_same_suspect(group) for group in groups])
        elif self._exercise.mistakes is not None and (sealed := behaviour.read_sealed(self._exercise.mistakes)):
            yield from (mistake for group in groups for mistake in self._mistakes_from_sealed(sealed, group))

    def once(self, mistakes: Iterable[Mistake]) -> tuple[Mistake, ...]:
        """Return the mistakes, of which those with the same sentence about the same functions are one.

        A mistake that explains some checks of one function and all of another is found for each of the two.
        """
        merged: dict[tuple[str, tuple[str, ...]], Mistake] = {}
        for mistake in mistakes:
            key = mistake.sentence, mistake.functions
            before = merged.get(key, mistake)
            ids = tuple(id for id in self._order if id in {*before.checks, *mistake.checks})
            merged[key] = replace(before, checks=ids, rule=before.rule if before.rule == mistake.rule else "")
        return tuple(merged.values())

    def _checks_with_same_suspect(self, group: _Ids) -> frozenset[str]:
        """Return all failing checks that have the same single suspect as these checks.

        A suspect is a function that may be at fault, see `suspects_of`.

        Args:
            group: the ids of failing checks. If they have several suspects, no check is returned.
        """
        functions = {name for id in group for name in self._suspects[id]}
        return frozenset(id for id, names in self._suspects.items() if len(functions) == 1 and names == functions)

    def _mistake_of(self, answers: Sequence[Answer], checks: _Ids) -> Mistake:
        """Return the `Mistake` that reports wrong answers which explain these checks."""
        rules = dict.fromkeys(self._rows[answer.caught_by].check.contract for answer in answers)
        changed = [name for answer in answers for name in self._changed_functions(answer)]
        called = self._functions_called(checks)
        # A helper of the wrong answer, such as a loop of its own, is named only to who has a function of that name.
        blamed = called.intersection(changed) or self._names_in(called).intersection(changed) or called or {*changed}
        ids = tuple(id for id in self._order if id in checks)
        rule = "".join(rules) if len(rules) == 1 else ""
        return Mistake(EITHER.join(sentences_of(answers)), tuple(sorted(blamed)), rule, ids)

    def _changed_functions(self, answer: Answer) -> tuple[str, ...]:
        return functions_changed_by(self._exercise, answer)

    def _functions_called(self, checks: _Ids) -> set[str]:
        """Return the functions and classes that these checks called."""
        return {name.split(".")[0] for id in checks for name in self._rows[id].outcome.called}

    def _mistakes_from_files(self, groups: Sequence[frozenset[str]]) -> Iterator[Mistake]:
        """Yield the mistakes that explain failing checks, found by runs of wrong answers.

        Args:
            groups: the ids of the failing checks, one set for each function.
        """
        explained = self._answers_failing_alike(groups)
        done: set[Answer] = set()
        for group in groups:
            alone = [
                answer
                for answer, part in explained.items()
                if group <= part and self._loses_little_on_other_rules([answer], group)
            ]
            # Who explains other functions as well is the likelier one.
            most = max((len(explained[answer]) for answer in alone), default=0)
            agree = {
                answer: self._share_of_same_wrong_results(answer, group)
                for answer in alone
                if len(explained[answer]) == most
            }
            alone = [answer for answer, share in agree.items() if share and share == max(agree.values())]
            spared = {name: self._checks_spared_by(name, group, explained) for name in self._callees_of(group)}
            for id in group:
                if harmless := frozenset(name for name, ids in spared.items() if id in ids):
                    self.harmless[id] = harmless
            callees = frozenset(name for name, ids in spared.items() if not group <= ids)
            if callees:
                alone = [answer for answer in alone if self._explains_callees(explained[answer], callees)]
            if not alone and not callees:
                if two := self._two_answers_explaining(explained, group):
                    some = {each: explained[each] & group for each in two}
                else:
                    some = self._two_overlapping(group) or self._answers_explaining_some(explained, group)
                yield from (self._mistake_of([each], part) for each, part in some.items())
            elif alone and not done.intersection(alone) and len(sentences_of(alone)) <= MOST:
                yield self._mistake_of(alone, explained[alone[0]])
            done.update(alone)

    def _mistakes_from_sealed(self, mistakes: Sealed, group: _Ids) -> Iterator[Mistake]:
        """Yield the known mistake whose encrypted sentence the failing checks decrypt.

        A copy of the course for students has the sentences encrypted, and no wrong answers. The key is made of how the
        failing checks end. Nothing is yielded if it decrypts no sentence, or if no decrypted sentence is true of the
        student's code.

        Args:
            mistakes: the encrypted sentences, by `behaviour_key`.
            group: the ids of the failing checks of one function.
        """
        id, first = self._exercise.id, _select_traces(self.run(SEALED_SEEDS[0]), group)
        beginning = behaviour.behaviour_key_prefix(id, first)
        if not any(name.startswith(beginning) for name in mistakes):
            return
        done = [first, *(_select_traces(self.run(seed), group) for seed in SEALED_SEEDS[1:])]
        opened = behaviour.unseal(id, done, mistakes)
        told = {
            sentence: each
            for sentence, each in opened.items()
            if self._sentence_fits(each.names, group, each.functions) and self._callees_of(group) <= set(each.functions)
        }
        if told:
            called = self._functions_called(group)
            changed = {name for each in told.values() for name in each.functions}
            functions = tuple(sorted(called & changed or self._names_in(called) & changed or called or changed))
            rules = {each.rule for each in told.values()}
            ids = tuple(id for id in self._order if id in group)
            yield Mistake(EITHER.join(told), functions, "".join(rules) if len(rules) == 1 else "", ids)

    def _callees_of(self, group: _Ids) -> frozenset[str]:
        """Return the faulty functions that the function under test calls in some checks.

        If `mean` calls `total`, and `total` is wrong, the checks of `mean` may fail only because of `total`. Checks of
        costs are ignored if there are others.

        Args:
            group: the ids of the failing checks of one function.
        """
        rows = [self._rows[id] for id in group if id not in self._costs] or [self._rows[id] for id in group]
        return frozenset(name for row in rows for name in self._callees.callees_of(row))

    def _checks_spared_by(self, callee: str, group: _Ids, explained: _ChecksByAnswer) -> frozenset[str]:
        """Return the checks that a faulty callee certainly does not make fail.

        If `mean` calls `total`, which returns another dtype, the check of the numbers of `mean` is such a check if a
        right `mean` with the same fault in `total` passes it. This is known if the reference's function uses the
        callee, too: such checks pass for the known wrong answers in which the callee fails as it does in the submission
        and the callers are right. At least one such wrong answer is needed.

        Args:
            callee: the name of the faulty function.
            group: the ids of the failing checks of its callers.
            explained: for each wrong answer, the failing checks that it explains.
        """
        callers = {function_of(self._rows[id]) for id in group}
        if self._exercise.reference is None or not all(callee in self._used_by_reference(name) for name in callers):
            return frozenset()
        failures = failures_by_function(self._graded.checks).get(callee, frozenset())
        alike = [
            answer
            for answer, part in explained.items()
            if failures <= part and callers.isdisjoint(self._changed_functions(answer))
        ]
        alike = [answer for answer in alike if self._share_of_same_wrong_results(answer, failures)] if failures else []
        ends = [self._known.traces(self._lane, answer, self._exercise, SEEDS[0], group) for answer in alike]
        self.starved |= any(starved for _, starved in ends)
        return frozenset(id for id in group if ends and all(traces[id].passed_or_not_run for traces, _ in ends))

    def _used_by_reference(self, function: str) -> set[str]:
        assert self._exercise.reference is not None
        return set(functions_used(self._exercise.reference.read_bytes(), function=function))

    def _explains_callees(self, part: _Ids, callees: Iterable[str]) -> bool:
        """Return whether a wrong answer explains all failing checks of some functions.

        Args:
            part: the ids of the checks that the answer explains.
            callees: the names of the functions, which the function under test calls.
        """
        groups = failures_by_function(self._graded.checks)
        return all(name in groups and groups[name] <= frozenset(part) for name in callees)

    def _answers_failing_alike(self, groups: Collection[frozenset[str]]) -> _ChecksByAnswer:
        """Return, for each wrong answer, the failing checks that it explains.

        An answer explains a check if the check fails for it as for the submission. Answers that explain none are left
        out, and answers whose sentence is not true of the student's code.

        Args:
            groups: the ids of the failing checks, one set for each function.
        """
        answers = [
            answer for answer in answers_with_sentence(self._exercise) if any(answer.caught_by in g for g in groups)
        ]
        if not answers:
            return {}
        mine = self.run(SEEDS[0])
        # One check, and most differ in it.
        answers = [
            answer
            for answer in answers
            if self._checks_failing_alike(answer, SEEDS[0], _select_traces(mine, [answer.caught_by]))
        ]
        # Which costs pass is not compared: to run all these checks for each wrong answer takes long.
        explained = {
            answer: self._checks_failing_alike(answer, SEEDS[0], mine, self._passing - self._costs)
            for answer in answers
        }
        for number, seed in enumerate(SEEDS[1:]):
            explained = {answer: part for answer, part in explained.items() if part}
            # The last seeds are for answers that explain the same.
            if not explained or (number > 0 and len(set(explained.values())) == len(explained)):
                break
            mine = self.run(seed)
            explained = {
                answer: part & self._checks_failing_alike(answer, seed, mine) for answer, part in explained.items()
            }
        shown = {answer: part for answer, part in explained.items() if part}
        return {answer: part for answer, part in shown.items() if self._names_fit(answer, part, mine)}

    def _sentence_fits(self, names: Names, checks: _Ids, functions: Iterable[str]) -> bool:
        """Return whether a wrong answer's sentence is true of the student's failing functions.

        For the sentence "You use `view`; use `reshape`.", the code of these functions must use the name `view`, and not
        the name `reshape`. The reading process parses the code.

        Args:
            names: the names that the code must use, and those that it must not use, as `names_in_sentence` returns
                them.
            checks: the ids of the failing checks that the sentence explains.
            functions: the functions in which the wrong answer differs from the reference. If the checks called none of
                them, all functions that the checks called are examined.
        """
        if names.is_empty:
            return True
        called = self._functions_called(checks)
        return names.fits(self._names_in(called.intersection(functions) or called))

    def _names_in(self, functions: Collection[str]) -> frozenset[str]:
        """Return the names in the code of some functions of the submission, and in the code that it uses."""
        key = frozenset(functions)
        if key not in self._names:
            self._names[key] = names_in(self._files, key)
        return self._names[key]

    def _share_of_same_wrong_results(self, answer: Answer, checks: _Ids) -> float:
        """Return the share of a wrong answer's wrong results that the submission returns, too.

        It is 0 if the submission also differs in another way. Results are compared for the inputs of all checks that
        call the answer's changed functions, not only of `checks`; see `share_of_same_wrong_results`.

        Args:
            answer: the wrong answer.
            checks: the failing checks that the answer may explain. If all are of costs, the share is 1: such code
                returns what is right.
        """
        if self._costs.issuperset(checks):
            return 1
        scope = self._scope_of([answer], checks)
        if (rows := self._results_in_calls(scope, [answer])) is None:
            return 0
        mine, theirs = rows
        other = {call for call, result in mine.items() if not _is_same_result(result, theirs[call])}
        if not other or self._reference is None:
            return float(not other)
        if (rows := self._results_in_calls(scope, [self._reference])) is None:
            return 0
        _, right = rows
        third = {call for call in other if not _is_same_result(mine[call], right[call])}
        left_open = self._calls_left_open(third, right, scope)
        decided = [{call: row[call] for call in mine.keys() - left_open} for row in (mine, theirs, right)]
        return share_of_same_wrong_results(*decided)

    def _calls_left_open(self, calls: set[_Call], right: _ByCall, scope: _Scope) -> set[_Call]:
        """Return the calls in which right answers return different results, as the rules allow.

        A submission that returns a third result there, neither that of a wrong answer nor that of the reference, does
        not show another mistake.

        Args:
            calls: the calls in which a submission returns a third result; only these are examined.
            right: digests of what the reference returns, by call.
            scope: the ids of the checks, and the functions whose calls are compared.
        """
        left_open: set[_Call] = set()
        for path in self._exercise.right:
            if calls <= left_open:
                break
            answer = read_answer(self._exercise, path)
            results = _results_by_call(self._results_of(answer, scope.checks), scope) or {}
            left_open |= {
                call for call in calls & results.keys() if not _is_same_result(_whole(results[call]), right[call])
            }
        return left_open

    def _shows_both_mistakes(self, pair: tuple[Answer, Answer], checks: _Ids, *, each_alone: bool = False) -> bool:
        """Return whether a submission's results show the mistakes of two wrong answers at once.

        The results of all calls are compared. Where one of the answers is wrong, the submission must return the same in
        at least three of four calls, and be right in the others. Where both are right, it must be right. Where both are
        wrong, it may return anything, as two mistakes may change a result together.

        Args:
            pair: the two wrong answers.
            checks: the failing checks that they explain together. If all of these are of costs, return True, as slow
                code returns what is right.
            each_alone: True if for each of the answers there must be a result that it alone gets wrong.
        """
        if self._costs.issuperset(checks) and not each_alone:
            return True
        known = [*pair, self._reference] if self._reference is not None else pair
        if (rows := self._results_in_calls(self._scope_of(pair, checks), known, by_item=True)) is None:
            return False
        mine, first, second, *reference = rows
        # Without a reference, what both return counts as right.
        same = {call: result for call, result in first.items() if _is_same_result(result, second[call])}
        right = reference[0] if reference else same
        shown: tuple[list[bool], list[bool]] = ([], [])
        for call, result in mine.items():
            expected = right.get(call, "")
            wrong = [number for number in (0, 1) if not _is_same_result((first, second)[number][call], expected)]
            if len(wrong) == 1:
                shown[wrong[0]].append(_is_same_result(result, (first, second)[wrong[0]][call]))
                if not (shown[wrong[0]][-1] or _is_same_result(result, expected)):
                    return False
            elif not wrong and not _is_same_result(result, expected):
                return False
        # Each by itself: of two opposite mistakes, such as always True and always False, any code shows one of them.
        return all(sum(alike) >= max(each_alone, LEAST_AGREEMENT * len(alike)) for alike in shown)

    def _scope_of(self, answers: Sequence[Answer], checks: _Ids) -> _Scope:
        """Return the checks and functions in which the submission is compared with wrong answers.

        The functions are those that the answers change, of those that the checks call. The checks are all that call
        one of them.

        Args:
            answers: the wrong answers.
            checks: the failing checks that they may explain.
        """
        called = self._functions_called(checks)
        functions = (
            called.intersection(name for answer in answers for name in self._changed_functions(answer)) or called
        )
        compared = {id for id in self._checks_to_compare() if functions & self._functions_called([id])}
        return _Scope(frozenset(compared), frozenset(functions))

    def _results_in_calls(
        self, scope: _Scope, answers: Sequence[Answer], *, by_item: bool = False
    ) -> list[_ByCall] | None:
        """Return what the submission and known answers return in each call that some checks make.

        Args:
            scope: the ids of these checks, and the functions whose calls are compared.
            answers: the known answers.
            by_item: True if a result of several items, such as a dict, counts as that many results.

        Returns:
            The results of the submission, then those of each answer, such as `[{("shape", "total", 0, ""):
            "8207...:8207..."}, ...]`. None if results are missing, or if a function was called more or less often for
            an answer than for the submission.
        """
        # Known answers first: the first run that compares makes all calls of these checks, which the lane then keeps.
        known = [self._results_of(answer, scope.checks) for answer in answers]
        runs = (self._own_results, *known)
        rows = [row for row in (_results_by_call(results, scope) for results in runs) if row is not None]
        if len(rows) != len(runs) or any(row.keys() != rows[0].keys() for row in rows):
            return None
        return _split_into_items(rows) if by_item else [{call: _whole(row[call]) for call in row} for row in rows]

    @functools.cached_property
    def _reference(self) -> Answer | None:
        path = self._exercise.reference
        return read_answer(self._exercise, path) if path is not None else None

    def _results_of(self, answer: Answer, checks: _Ids) -> Results:
        """Return digests of what a known answer returns for all inputs of these checks."""
        results, starved = self._known.results(self._lane, answer, self._exercise, SEEDS[0], checks)
        self.starved |= starved
        return results

    @functools.cached_property
    def _own_results(self) -> Results:
        """Return digests of what the submission returns for all inputs of `_checks_to_compare`.

        The seed is the first one.
        """
        results, starved = results_in(self._lane, self._exercise, self._files, SEEDS[0], self._checks_to_compare())
        self.starved |= starved
        return results

    def _checks_to_compare(self) -> set[str]:
        """Return the ids of the checks in which results are compared with those of known answers.

        They are the checks that passed or failed, without checks of costs: slow code returns what is right.
        """
        return {*self._passing, *self._failing} - self._costs

    def _checks_failing_alike(self, answer: Answer, seed: int, mine: Traces, passing: _Ids = ()) -> frozenset[str]:
        """Return the checks that end for a wrong answer in the same way as for the submission.

        The set is empty if the answer fails another check, which ends otherwise for the submission: then the submission
        has not this mistake. The arguments are those of `_checks_failing_alike_and_otherwise`.
        """
        alike, otherwise = self._checks_failing_alike_and_otherwise(answer, seed, mine, passing)
        return frozenset() if otherwise else alike

    def _checks_failing_alike_and_otherwise(
        self, answer: Answer, seed: int, mine: Traces, passing: _Ids = ()
    ) -> tuple[frozenset[str], frozenset[str]]:
        """Return the checks that end for a wrong answer as for the submission, and those that it fails otherwise.

        A check does not count as failed otherwise if a function that the answer does not change may be at fault in it.

        Args:
            answer: the wrong answer.
            seed: the seed of the random inputs.
            mine: how the submission's failing checks ended with that seed, by id.
            passing: the checks that the submission passes, and that the answer must pass, too.
        """
        theirs, starved = self._known.traces(self._lane, answer, self._exercise, seed, {*mine, *passing})
        self.starved |= starved
        same = frozenset(
            id for id, trace in mine.items() if theirs[id].is_like(trace) and (trace.lost or trace.passed_or_not_run)
        )
        # A check of several functions ended at the first thing that is wrong, which may be another mistake, unless it
        # ended in the very function that the answer changes. One that another function ended says nothing of this one.
        changed = self._changed_functions(answer)
        ended_in = {id: function_of(self._rows[id]) for id in self._suspects}
        fine = same.union(
            id
            for id, names in self._suspects.items()
            if (len(names) > 1 and ended_in[id] not in changed) or (names and changed and names.isdisjoint(changed))
        )
        return same, frozenset(id for id, trace in theirs.items() if id not in fine and not trace.passed_or_not_run)

    def _two_answers_explaining(self, explained: _ChecksByAnswer, group: frozenset[str]) -> list[Answer]:
        """Return two wrong answers that together explain all checks of one function.

        For the failing checks a, b and c, one may explain a and b, and the other b and c. Each of the two explains some
        check that the other does not. They come in the order of the checks. If several pairs do so, only answers whose
        sentences are in every pair are returned: one or none is possible.

        Args:
            explained: for each wrong answer, the failing checks that it explains.
            group: the ids of the failing checks of the function.
        """
        mine = {answer: part & group for answer, part in explained.items() if answer.caught_by in group}
        pairs = [pair for pair in combinations(mine, 2) if mine[pair[0]] | mine[pair[1]] == group]
        pairs = [
            (a, b)
            for a, b in pairs
            if mine[a] - mine[b] and mine[b] - mine[a] and self._loses_little_on_other_rules([a, b], group)
        ]
        pairs = [pair for pair in pairs if self._shows_both_mistakes(pair, group)]
        return sorted(_in_all_pairs(pairs), key=lambda answer: self._first_index(mine[answer]))

    def _two_overlapping(self, group: frozenset[str]) -> dict[Answer, frozenset[str]]:
        """Return two wrong answers that together explain all checks of one function, where both fail some of them.

        Such a check ends at the first of two mistakes that it meets. So for one of the answers it ends as for the
        submission, and for the other one otherwise. If several pairs explain all checks, only answers whose sentences
        are in every pair are returned.

        Args:
            group: the ids of the failing checks of the function.

        Returns:
            The answers in the order of the checks, each with the checks that end for it as for the submission.
        """
        mine, answers = self.run(SEEDS[0]), answers_with_sentence(self._exercise)
        ends = {
            answer: self._checks_failing_alike_and_otherwise(answer, SEEDS[0], mine, self._passing - self._costs)
            for answer in answers
            if answer.caught_by in group
            and self._checks_failing_alike(answer, SEEDS[0], _select_traces(mine, [answer.caught_by]))
        }
        pairs = [pair for pair in combinations(ends, 2) if _overlap([ends[each] for each in pair], group)]
        for number, seed in enumerate(SEEDS[1:]):
            if not pairs or (number > 0 and len(pairs) == 1):  # the last seeds are for pairs that explain the same
                break
            mine = self.run(seed)
            again = {
                answer: self._checks_failing_alike_and_otherwise(answer, seed, mine)
                for answer in dict.fromkeys(answer for pair in pairs for answer in pair)
            }
            pairs = [pair for pair in pairs if _overlap([again[each] for each in pair], group)]
        parts = {answer: alike & group for answer, (alike, _) in ends.items()}
        pairs = [
            pair
            for pair in pairs
            if self._loses_little_on_other_rules(pair, group)
            and all(self._names_fit(answer, parts[answer], mine) for answer in pair)
            and self._shows_both_mistakes(pair, group, each_alone=True)
        ]
        certain = sorted(_in_all_pairs(pairs), key=lambda answer: self._first_index(parts[answer]))
        return {answer: parts[answer] for answer in certain}

    def _names_fit(self, answer: Answer, checks: frozenset[str], traces: Traces) -> bool:
        """Return whether a wrong answer's sentence is true of the code that fails these checks, by its names.

        Args:
            answer: the wrong answer.
            checks: the ids of the failing checks that it explains.
            traces: how the submission's failing checks ended, by id.
        """
        names = required_names(self._exercise, answer, _select_traces(traces, checks))
        return self._sentence_fits(names, checks, self._changed_functions(answer))

    def _answers_explaining_some(
        self, explained: _ChecksByAnswer, group: frozenset[str]
    ) -> dict[Answer, frozenset[str]]:
        """Return wrong answers that each explain only some failing checks of one function, with these checks.

        The submission has further mistakes. The answers come in the order of the checks. An answer is left out if
        another answer explains all that it explains and more, or explains just as much in other words. It is also left
        out if a check that it does not explain fails exactly like one that it explains: then the mistake is a larger
        one.

        Args:
            explained: for each wrong answer, the failing checks that it explains.
            group: the ids of the failing checks of the function.
        """
        ends = {id: trace.key for id, trace in self.run(SEEDS[0]).items()}
        mine = {answer: part & group for answer, part in explained.items() if answer.caught_by in group}
        mine = {
            answer: part
            for answer, part in mine.items()
            if {ends[id] for id in part}.isdisjoint(ends[id] for id in group - part)
            and self._loses_little_on_other_rules([answer], part)
            and self._shows_mistake_among_others(answer, part)
        }
        by_part: dict[frozenset[str], list[Answer]] = {}
        for answer, part in mine.items():
            if not any(part < other for other in mine.values()):
                by_part.setdefault(part, []).append(answer)
        certain = [answers[0] for answers in by_part.values() if len(sentences_of(answers)) == 1]
        return {answer: mine[answer] for answer in sorted(certain, key=lambda answer: self._first_index(mine[answer]))}

    def _shows_mistake_among_others(self, answer: Answer, checks: _Ids) -> bool:
        """Return whether the submission's results show a wrong answer's mistake among others.

        The calls are those of all checks that can be compared. In the calls that the answer gets wrong, the submission
        returns the same as the answer, but in a few it may be right. In at least half of those that the answer gets
        right, it is right, too: code that returns the same in all calls has another mistake. Calls that only a probe
        makes are not compared.

        Of results with several items, such as a dict, only the items are compared that the answer gets wrong in some
        call: the submission may have its other mistake in another item of each result.

        Args:
            answer: the wrong answer.
            checks: the failing checks that it explains.
        """
        if self._reference is None:
            return False
        if (
            rows := self._results_in_calls(self._scope_of([answer], checks), [answer, self._reference], by_item=True)
        ) is None:
            return False
        mine, theirs, right = rows
        wrong = {call for call, result in theirs.items() if not _is_same_result(result, right[call])}
        fine = {call for call, result in mine.items() if _is_same_result(result, right[call])}
        alike = {call for call in wrong if _is_same_result(mine[call], theirs[call])}
        if not wrong <= alike | fine or len(alike) < LEAST_AGREEMENT * len(wrong):
            return False
        items = {(function, item) for _, function, _, item in wrong}
        kept = {call for call in mine.keys() - wrong if not call[3] or not wrong or (call[1], call[3]) in items}
        return 2 * len(fine & kept) >= len(kept)

    def _loses_little_on_other_rules(self, answers: Collection[Answer], group: _Ids) -> bool:
        """Return whether few points were lost on rules that none of these wrong answers breaks.

        Few points are at most the share `MOST_ON_OTHERS` of the exercise's points.

        Args:
            answers: the wrong answers.
            group: the ids of the failing checks.
        """
        rules = {self._rows[answer.caught_by].check.contract for answer in answers}
        broken = rules.union(*(answer.breaks for answer in answers))
        others = [self._rows[id].score for id in group if self._rows[id].check.contract not in broken]
        return sum(score.possible - score.earned for score in others) <= MOST_ON_OTHERS * self._exercise.points

    def _first_index(self, ids: _Ids) -> int:
        """Return where the first of these checks stands in `_order`, in which students read them.

        Return the length of `_order` if none of them lost points.
        """
        return next((place for place, id in enumerate(self._order) if id in ids), len(self._order))

    def run(self, seed: int) -> Traces:
        """Run the submission's failing checks with a seed, and return how each ended.

        A check is not run again if that is known. Checks of costs hardly depend on the inputs: they run with the first
        seed only.
        """
        if seed not in self._ran:
            known = self._traces_of_graded_run(seed)
            if seed != SEEDS[0]:
                known |= _select_traces(self.run(SEEDS[0]), self._costs & self._failing.keys())
            again = self._failing.keys() - known.keys()
            traces, starved = traces_in(self._lane, self._exercise, self._files, seed, again)
            self.starved |= starved
            self._ran[seed] = known | traces
        return self._ran[seed]

    def _traces_of_graded_run(self, seed: int) -> dict[str, Trace]:
        """Return how failing checks ended, if the graded run had the inputs of this seed.

        Such a check need not be run again: its inputs are the same for all authors, or the seed is that of the graded
        run.

        Args:
            seed: the seed of the random inputs.
        """
        return {id: one for id, one in self._failing.items() if seed == self._ran_with or one.same_for_all}


def required_names(exercise: Exercise, answer: Answer, traces: Traces) -> Names:
    """Return the names that decide whether a wrong answer's sentence is true of code.

    If a failing check shows a wrong number, fewer names are required: see `names_in_sentence`.

    Args:
        exercise: the exercise.
        answer: the wrong answer.
        traces: the traces of the checks that the answer explains.
    """
    has_value = any(trace.lost and trace.has_value for trace in traces.values())
    return behaviour.names_in_sentence(
        answer, exercise.reference, functions_changed_by(exercise, answer), has_value=has_value
    )


def functions_changed_by(exercise: Exercise, answer: Answer) -> tuple[str, ...]:
    """Return the functions of a wrong answer that differ from the reference.

    The tuple is empty if the exercise has no reference.
    """
    given, reference = starter_names(exercise), exercise.reference
    return changed_functions(answer.source, reference.read_bytes(), given) if reference is not None else ()


def _overlap(ends: Sequence[tuple[frozenset[str], frozenset[str]]], group: frozenset[str]) -> bool:
    """Return whether two wrong answers explain the checks of a group together, each some that the other does not.

    What one of them fails otherwise than the submission, the other must explain.

    Args:
        ends: of both answers, the checks that end as for the submission, and those that they fail otherwise.
        group: the ids of the checks.
    """
    (first, first_otherwise), (second, second_otherwise) = ends
    covered = first | second >= group and first_otherwise <= second and second_otherwise <= first
    return covered and bool((first - second) & group) and bool((second - first) & group)


def _in_all_pairs(pairs: Sequence[tuple[Answer, Answer]]) -> list[Answer]:
    """Return the answers of the first pair whose sentences are in every pair."""
    sentences = [{answer.sentence for answer in pair} for pair in pairs]
    return [answer for pair in pairs[:1] for answer in pair if all(answer.sentence in row for row in sentences)]


def share_of_same_wrong_results(
    submitted: Mapping[_Call, str], wrong: Mapping[_Call, str], right: Mapping[_Call, str]
) -> float:
    """Return the share of a wrong answer's wrong results that a submission returns, too.

    If the wrong answer is wrong in 4 calls, and the submission returns the same in 3 of them and is right in all
    others, it is 0.75. The share is 0 if the submission returns a value in some call that is neither the wrong answer's
    nor the right one. A share below `LEAST_AGREEMENT` becomes 0, too. If the wrong answer returns no wrong value, the
    share is 1: digests do not show every mistake, such as a wrong dtype.

    Args:
        submitted: digests of what the submission returns, by call.
        wrong: digests of what the wrong answer returns.
        right: digests of what the reference returns.
    """
    other = {call for call, result in submitted.items() if not _is_same_result(result, wrong[call])}
    if any(not _is_same_result(submitted[call], right[call]) for call in other):
        return 0
    wrong_calls = {call for call, result in wrong.items() if not _is_same_result(result, right[call])}
    share = len(wrong_calls - other) / len(wrong_calls) if wrong_calls else 1
    return share if share >= LEAST_AGREEMENT else 0


def _results_by_call(results: Results, scope: _Scope) -> _ByCall | None:
    """Return the digest of each call of the functions in the checks of a scope, by call.

    An example is `{("shape", "total", 0, ""): "8207b457e229:8207b457e229"}`, for the first call of `total` in the check
    "shape". The digests of items are included. Return None if the results of a check are missing.
    """
    if not scope.checks <= results.keys():
        return None
    return {
        (id, name, number, ""): result
        for id in scope.checks
        for name in scope.functions
        for number, result in enumerate(results[id].get(name, ()))
    }


def _whole(result: str) -> str:
    """Return the digests of the whole of a result, without those of its items."""
    return result.partition(ITEM)[0]


def _split_into_items(rows: Sequence[_ByCall]) -> list[_ByCall]:
    """Return results of calls, each item of a result as a result of its own.

    A call is split if its result has the same items in all rows, such as a dict with the same keys.

    Args:
        rows: the results of a submission and of known answers, of the same calls.
    """
    split: list[_ByCall] = [{} for _ in rows]
    for call in rows[0]:
        items = [dict(item.split("=") for item in row[call].split(ITEM)[1:]) for row in rows]
        alike = bool(items[0]) and all(each.keys() == items[0].keys() for each in items)
        for done, row, each in zip(split, rows, items, strict=True):
            results = each if alike else {"": _whole(row[call])}
            done.update({(*call[:3], item): result for item, result in results.items()})
    return split


def _is_same_result(mine: str, theirs: str) -> bool:
    """Return whether two calls returned the same result, by the digests of each.

    Each argument has two digests of one result. One equal pair suffices: "ab:cd" and "ab:ef" are the same. Two calls
    that end Python are not the same: any crash does that.
    """
    return mine != ENDED and any(one == other for one, other in zip(mine.split(":"), theirs.split(":"), strict=False))


def _select_traces(traces: Traces, ids: Iterable[str]) -> Traces:
    return {id: traces[id] for id in ids}


def sentences_of(answers: Collection[Answer]) -> list[str]:
    """Return the sentences of wrong answers, each once and in one line."""
    return list(dict.fromkeys(" ".join(answer.sentence.split()) for answer in answers))


def answers_with_sentence(exercise: Exercise) -> Iterator[Answer]:
    """Yield the wrong answers of an exercise that have a sentence."""
    for path in exercise.wrong:
        # One that cannot be read is its author's to fix, and `grade verify` says so; here the others still serve.
        with suppress(CourseError, OSError):
            if (answer := read_answer(exercise, path)).sentence:
                yield answer
