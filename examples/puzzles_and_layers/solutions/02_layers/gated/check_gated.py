from grader.check import assert_parameters_get_gradients, assert_values, check, load_weights


@check("C2", share=3, try_this="Gated(2, 3)(torch.ones(1, 2))")
def check_random(student, reference, rng):
    """The same weights give the same numbers"""
    layer, expected = student.Gated(4, 6), reference.Gated(4, 6)
    load_weights(layer, expected)
    x = rng.normal(2, 3, 4)
    assert_values(layer(x), expected(x))


@check("C3", category="gradient", share=2, try_this="[p.requires_grad for p in Gated(2, 3).parameters()]")
def check_learns(student, rng):
    """Every parameter gets a gradient"""
    assert_parameters_get_gradients(student.Gated(4, 16), rng.normal(6, 4))
