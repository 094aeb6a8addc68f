from grader.check import check


@check("C1")
def check_commonest(student):
    """The pair that stands there twice"""
    assert student.commonest([1, 2, 3, 1, 2]) == (1, 2)


@check("C2")
def check_merge(student):
    """Two pairs become two ids"""
    assert student.merge([1, 2, 3, 1, 2], (1, 2), 9) == [9, 3, 9]


@check("C3")
def check_encode(student):
    """Two merges, the second of which uses the first"""
    assert student.encode("abab", [(97, 98), (256, 256)]) == [257]


@check("C4")
def check_file(student, probe):
    """The three merges of data/merges.txt"""
    assert probe.merges_at(student.merges_of, "data/merges.txt") == [(116, 104), (104, 101), (256, 101)]
