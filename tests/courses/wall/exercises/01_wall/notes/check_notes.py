from grader.check import assert_close, assert_true, check


@check("C1", share=2)
def check_note(student, probe, files):
    """Writes numbers, one a line"""
    result, lines, names = probe.noted(student.note, [1, 2])
    assert_close(result, len((files / "words.txt").read_text().split()))
    assert_true(lines == ["1", "2"], "the file has other lines")
    assert_true(names == ["deep", "note.txt"], "there is more")
