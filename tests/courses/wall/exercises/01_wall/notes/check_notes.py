from grader.check import check, require, same


@check("C1", share=2)
def check_note(student, tmp_path, files):
    """Writes numbers, one a line"""
    (tmp_path / "beside.txt").write_text("CANARY_FILE")
    same(student.note([1, 2], tmp_path / "deep" / "note.txt"), len((files / "words.txt").read_text().split()))
    text = (tmp_path / "deep" / "note.txt").read_text() if (tmp_path / "deep" / "note.txt").is_file() else ""
    require(text.split() == ["1", "2"], "the file has other lines")
    require(sorted(path.name for path in tmp_path.rglob("*")) == ["beside.txt", "deep", "note.txt"], "there is more")
