from grader.check import assert_true, check


@check("C1", share=2, try_this="commonest([5, 6, 7, 8])")
def check_ties(student):
    """Of pairs that occur equally often the larger"""
    assert_true(student.commonest([1, 9, 4, 2, 8, 4]) == (9, 4), "of equal pairs not the largest one is chosen")
    assert_true(student.commonest([7, 1, 5, 2, 6, 3]) == (7, 1), "of equal pairs not the largest one is chosen")


@check("C2", share=2, try_this="merge([4, 4, 4, 4, 4], (4, 4), 9)")
def check_overlaps(student):
    """Pairs that overlap"""
    found = student.merge([5, 5, 5, 1], (5, 5), 7)
    assert_true(found == [7, 5, 1], "what overlaps is not merged from the left")


@check("C3", share=2, try_this="encode('é', [])")
def check_bytes(student):
    """Letters of several bytes, and no merges"""
    assert_true(student.encode("aü", []) == [97, 195, 188], "letters do not become the bytes of UTF-8")


@check("C4", share=2, try_this="merges_of(path), where path is a file of your own with one line")
def check_other_file(student, probe):
    """A file that is written meanwhile, with gaps and comments"""
    found = probe.merges_in(student.merges_of, "# first\n7 300\n\n#300 7\n255 0\n")
    assert_true(found == [(7, 300), (255, 0)], "the pairs of another file are wrong")
