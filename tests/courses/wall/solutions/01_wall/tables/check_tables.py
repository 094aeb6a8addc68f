from grader.check import assert_close, check

SECRET = "CANARY_CHECK"


@check("C1", share=3, try_this="count('a rose is a rose')")
def check_more_words(student, reference):
    """Counts more words"""
    text = "CANARY_INPUT 918273645 CANARY_INPUT"
    assert_close(student.count(text), reference.count(text))


@check("C2", share=3, try_this="shout('a rose')")
def check_shouts_more(student, reference):
    """Shouts a sentence"""
    text = "canary_expected 918273645"
    assert_close(student.shout(text), reference.shout(text))
