from grader.check import assert_close, check


@check("C1", share=2)
def check_words(student):
    """Counts three words"""
    assert_close(student.count("to be to"), {"to": 2, "be": 1})


@check("C2", share=2)
def check_shouts(student):
    """Shouts a word"""
    assert_close(student.shout("ho"), "HO")
