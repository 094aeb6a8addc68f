from grader.check import assert_close, assert_no_loop, assert_true, assert_unchanged, check, count_ops


@check("C1", share=3, try_this="turn(torch.tensor([0.5, 1.5, 2.5]))")
def check_random(student, reference, rng):
    """Random vectors"""
    x = rng.normal(rng.integer(5, 9))
    assert_close(student.turn(x), reference.turn(x))


@check("C2", category="memory", share=2, try_this="x = torch.arange(3); turn(x); print(x)")
def check_kept(student, rng):
    """Leaves x as it was"""
    x = rng.normal(5)
    with assert_unchanged(x, what="x"):
        student.turn(x)


@check("C3", category="performance", share=2, try_this="look for a `for` or `roll` in your function")
def check_no_loop(student, rng):
    """Neither a loop nor roll"""
    assert_no_loop(student.turn, (rng.normal(4),), (rng.normal(150),))
    called = count_ops(student.turn, rng.normal(4))
    assert_true(not any("roll" in name for name in called), "roll is called")
