import torch

from grader.check import assert_dtype, assert_isinstance, assert_shape, assert_tensor, assert_true, assert_values, check


@check("C1", share=2)
def check_two_weights(student):
    """Makes two weights"""
    made = student.weights([(2, 3), (4,)], 1)
    assert_isinstance(made, list, "the result of `weights`")
    assert_true(len(made) == 2, "there is not one tensor for each shape")
    for tensor, shape in zip(made, [(2, 3), (4,)], strict=True):
        assert_tensor(tensor, "a weight")
        assert_shape(tensor, shape, "a weight")


@check("C2", share=2)
def check_split_of_five(student):
    """Splits five numbers"""
    parts = student.split(5, 3, 1)
    assert_isinstance(parts, tuple, "the result of `split`")
    assert_true(len(parts) == 2, "`split` does not give two parts")
    for part, size in zip(parts, (3, 2), strict=True):
        assert_shape(part, (size,), "a part")
    assert_values(torch.cat(parts).sort().values, torch.arange(5), "the tensor of both parts, sorted,")


@check("C3", category="dtype", share=2)
def check_noise_on_ints(student):
    """Adds noise to whole numbers"""
    result = student.noisy(torch.tensor([10, 20]), 1)
    assert_tensor(result)
    assert_dtype(result, torch.float32)
    assert_true(bool(((result >= 10) & (result < 21)).all()), "the noise is not between 0 and 1")


@check("C5", share=2)
def check_next_two(student):
    """Draws two more numbers"""
    g = torch.Generator().manual_seed(5)
    result = student.carry_on(g.get_state(), 2)
    assert_isinstance(result, tuple, "the result of `carry_on`")
    assert_true(len(result) == 2, "`carry_on` does not give numbers and a state")
    assert_values(result[0], torch.rand(2, generator=g), "the vector of numbers", rtol=0.0, atol=0.0)
    assert_values(result[1], g.get_state(), "the state afterwards")


@check("C6", share=2)
def check_repeats(student):
    """Repeats two weights"""
    first, second = (student.weights([(2, 3)], 1)[0] for _ in range(2))
    assert_values(second, first, "the weight of a second call", rtol=0.0, atol=0.0)


@check("C7", share=2)
def check_generator(student, probe):
    """Leaves the global generator alone"""
    kept = probe.leaves_generators(student.weights, [(2, 3)], 1)
    assert_true(kept is True, "`weights` changed the state of a global generator")
