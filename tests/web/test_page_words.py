"""What commands say, in the words of pages."""

from __future__ import annotations

import re
from pathlib import Path

from grader.batch.results_folder import ResultsFolder
from grader.batch.run import BatchOptions, Summary
from grader.batch.run_text import run_sentences
from grader.report.export.lms import Filled
from grader.web.page_words import in_page_words


def test_no_sentence_of_a_run_names_an_option(tmp_path: Path) -> None:
    """A page has controls: its sentences on a regrade and on a platform's file name no option for them."""
    summary = Summary(
        graded=1, saved=2, changed=3, lower=[("ada", "double")], stale=1, unmatched=1, broken={"double": ["carl"]}
    )
    lines = [*run_sentences(summary, BatchOptions(), ResultsFolder(tmp_path)), *Filled(absent=2).lines("a.csv", {})]
    pages = [in_page_words(line) for line in lines]
    assert len(pages) == len(lines) > 6
    named = [line for line in pages if re.search(r"--(?!staff)|grade diff", line)]
    assert named == []
    assert "3 results replace earlier ones: the page Changes shows which scores changed." in pages
    assert "1 lower score did not count, as you chose: the page Changes names them." in pages
