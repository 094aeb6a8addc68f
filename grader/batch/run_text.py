"""What somebody should know of a run of `grade batch`, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from grader.batch.results_folder import ResultsFolder
from grader.batch.run import BatchOptions, Summary
from grader.model.score import join_names, pluralize


def run_sentences(summary: Summary, batch_options: BatchOptions, results: ResultsFolder) -> Iterator[str]:
    """Yield sentences about a run of `grade batch`.

    They say what was graded, what is broken, and where the reports are.

    Args:
        summary: the summary of the run.
        batch_options: the options of the run.
        results: the folder with its reports and its gradebook.
    """
    out = results.path
    if summary.saved and not summary.graded:
        same = "no submission and no check has changed since the last run"
        yield f"Nothing was graded again: {'earlier runs have all results' if summary.changed else same}."
    elif summary.saved:
        now, before = pluralize(summary.graded, "exercise"), pluralize(summary.saved, "exercise")
        yield f"{now} graded now; {before} graded before have not changed since."
    if summary.changed:
        replaced = "replaces an earlier one" if summary.changed == 1 else "replace earlier ones"
        yield f"{pluralize(summary.changed, 'result')} {replaced}: grade diff {out} shows which scores changed."
    if summary.lower:
        count = pluralize(len(summary.lower), "lower score")
        yield f"Because of --never-lower, {count} did not count: grade diff {out} names them."
    if summary.stale:
        yield f"{pluralize(summary.stale, 'outcome')} in the table come from older checks; grade all authors again."
    if summary.unmatched:
        yield f"{pluralize(summary.unmatched, 'file')} matched no exercise or no author; see unmatched.csv."
    yield from summary.notes
    for id, whose in summary.broken.items():
        yield f"BROKEN  {id} of {join_names(whose, 3)}: this is not their fault, and they lose no points."
    for author, why in summary.unread.items():
        yield f"BROKEN  {author} could not be read, so the gradebook has no new row: {why}"
    if summary.broken:
        yield (
            f"To see why, run the same command with --staff, and read `detail` in {out}/reports. After the fix, add "
            "--rerun broken."
        )
    if batch_options.shard is None:
        yield f"Reports and gradebook.csv are in {out}"
    else:
        yield (
            f"Shard {batch_options.shard.number} of {batch_options.shard.count} is done; its reports are in {out}. "
            "When all are done, run the same command without --shard: it writes the gradebook and grades what is left."
        )
