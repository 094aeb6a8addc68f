from grader.check import check, keeps_graph, no_loop


@check("C2", category="performance", share=3, try_this="total(torch.ones(1000))")
def check_counts(student, rng):
    """No Python loop"""
    no_loop(student.total, (rng.normal(20),), (rng.normal(200),))
    keeps_graph(student.total, rng.normal(5))
