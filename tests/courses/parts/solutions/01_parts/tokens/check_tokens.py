import torch
from shared.words import is_long, words_of

from grader.check import assert_close, assert_true, check


@check("C1", share=2, try_this='encode("the cat sat")')
def check_some(student, reference, files, rng):
    """Finds words in any order"""
    words = words_of(files / "data/words.txt")
    text = " ".join(words[rng.integer(0, len(words) - 1)] for _ in range(4))
    yours = student.encode(text)
    is_long(yours, 4)
    assert_close(yours, reference.encode(text))


@check("C2", share=2, try_this='save(torch.tensor([3]), "ids.txt")')
def check_writes(student, probe, rng):
    """Writes one number a line"""
    numbers = rng.integers(0, 99, 4)
    result, text = probe.written(student.save, torch.tensor(numbers))
    assert_true(result is None, "`save` returns something")
    assert_true(text is not None, "`save` writes no file")
    assert_true(text.split() == [str(number) for number in numbers], "the file has other lines")


@check("C2", share=2, try_this='save(torch.tensor([3]), "ids.txt"); load("ids.txt")')
def check_reads(student, reference, probe, rng):
    """Reads what the check and the reference write"""
    numbers = rng.integers(0, 99, 4)
    assert_close(probe.read(student.load, "\n".join(map(str, numbers)), as_text=True), torch.tensor(numbers))
    _, text = probe.written(reference.save, torch.tensor([7, 8]))
    assert_close(probe.read(student.load, text), torch.tensor([7, 8]))
