from shared.names import drawn

from grader.check import assert_close, check

SECRET = "CANARY_CHECK"


@check("C2", share=2, try_this='notes(Path("."))')
def check_names(student, reference, probe, rng):
    """Gives the names in a folder"""
    names = drawn(rng)
    assert_close(probe.named(student.notes, names), probe.named(reference.notes, names))
