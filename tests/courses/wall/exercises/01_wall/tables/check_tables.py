from grader.check import check, same


@check("C1", share=2)
def check_words(student):
    """Counts three words"""
    same(student.count("to be to"), {"to": 2, "be": 1})


@check("C2", share=2)
def check_shouts(student):
    """Shouts a word"""
    same(student.shout("ho"), "HO")
