from grader.check import check, require, same


@check("C1", share=2)
def check_note(student, probe, files):
    """Writes numbers, one a line"""
    result, lines, names = probe.noted(student.note, [1, 2])
    same(result, len((files / "words.txt").read_text().split()))
    require(lines == ["1", "2"], "the file has other lines")
    require(names == ["deep", "note.txt"], "there is more")
