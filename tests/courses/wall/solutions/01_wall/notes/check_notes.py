from shared.names import make

from grader.check import check, same

SECRET = "CANARY_CHECK"


@check("C2", share=2, try_this='notes(Path("."))')
def check_names(student, reference, tmp_path, rng):
    """Gives the names in a folder, and nothing that an earlier check had"""
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder, [f"{number}.txt" for number in rng.integers(0, 9, 3)])
    same(student.notes(folder), reference.notes(folder))
    same(student.notes(tmp_path), ["folder"])
