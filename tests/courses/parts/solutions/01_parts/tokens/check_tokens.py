import torch
from shared.words import is_long, words_of

from grader.check import check, require, same


@check("C1", share=2, try_this='encode("the cat sat")')
def check_some(student, reference, files, rng):
    """Finds words in any order"""
    words = words_of(files / "data/words.txt")
    text = " ".join(words[rng.integer(0, len(words) - 1)] for _ in range(4))
    yours = student.encode(text)
    is_long(yours, 4)
    same(yours, reference.encode(text))


@check("C2", share=2, try_this='save(torch.tensor([3]), "ids.txt")')
def check_writes(student, tmp_path, rng):
    """Writes one number a line"""
    numbers = rng.integers(0, 99, 4)
    path = tmp_path / "ids.txt"
    require(student.save(torch.tensor(numbers), path) is None, "`save` returns something")
    require(path.is_file(), "`save` writes no file")
    require(path.read_text().split() == [str(number) for number in numbers], "the file has other lines")


@check("C2", share=2, try_this='save(torch.tensor([3]), "ids.txt"); load("ids.txt")')
def check_reads(student, reference, tmp_path, rng):
    """Reads what the check and the reference write"""
    numbers = rng.integers(0, 99, 4)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "ids.txt").write_text("\n".join(map(str, numbers)))
    same(student.load(str(tmp_path / "inner" / "ids.txt")), torch.tensor(numbers))
    reference.save(torch.tensor([7, 8]), tmp_path / "other.txt")
    same(student.load(tmp_path / "other.txt"), torch.tensor([7, 8]))
