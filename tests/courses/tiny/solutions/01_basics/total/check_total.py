from grader.check import assert_keeps_graph, assert_no_loop, check


@check("C2", category="performance", share=3, try_this="total(torch.ones(1000))")
def check_counts(student, rng):
    """No Python loop"""
    assert_no_loop(student.total, (rng.normal(20),), (rng.normal(200),))
    assert_keeps_graph(student.total, rng.normal(5))
