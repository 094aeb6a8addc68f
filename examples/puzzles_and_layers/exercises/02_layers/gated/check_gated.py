from grader.check import assert_parameters, check


@check("C1", share=2)
def check_parameters(student):
    """Three weights and no bias"""
    assert_parameters(student.Gated(4, 6), {"up.weight": (6, 4), "gate.weight": (6, 4), "down.weight": (4, 6)})
