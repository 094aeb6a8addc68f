import torch

from grader.check import check, is_instance, is_tensor, require, same_dtype, same_shape, same_values


@check("C1", share=2)
def check_two_weights(student):
    """Makes two weights"""
    made = student.weights([(2, 3), (4,)], 1)
    is_instance(made, list, "the result of `weights`")
    require(len(made) == 2, "there is not one tensor for each shape")
    for tensor, shape in zip(made, [(2, 3), (4,)], strict=True):
        is_tensor(tensor, "a weight")
        same_shape(tensor, shape, "a weight")


@check("C2", share=2)
def check_split_of_five(student):
    """Splits five numbers"""
    parts = student.split(5, 3, 1)
    is_instance(parts, tuple, "the result of `split`")
    require(len(parts) == 2, "`split` does not give two parts")
    for part, size in zip(parts, (3, 2), strict=True):
        same_shape(part, (size,), "a part")
    same_values(torch.cat(parts).sort().values, torch.arange(5), "the tensor of both parts, sorted,")


@check("C3", category="dtype", share=2)
def check_noise_on_ints(student):
    """Adds noise to whole numbers"""
    result = student.noisy(torch.tensor([10, 20]), 1)
    is_tensor(result)
    same_dtype(result, torch.float32)
    require(bool(((result >= 10) & (result < 21)).all()), "the noise is not between 0 and 1")


@check("C5", share=2)
def check_next_two(student):
    """Draws two more numbers"""
    g = torch.Generator().manual_seed(5)
    result = student.carry_on(g.get_state(), 2)
    is_instance(result, tuple, "the result of `carry_on`")
    require(len(result) == 2, "`carry_on` does not give numbers and a state")
    same_values(result[0], torch.rand(2, generator=g), "the vector of numbers", rtol=0.0, atol=0.0)
    same_values(result[1], g.get_state(), "the state afterwards")


@check("C6", share=2)
def check_repeats(student):
    """Repeats two weights"""
    first, second = (student.weights([(2, 3)], 1)[0] for _ in range(2))
    same_values(second, first, "the weight of a second call", rtol=0.0, atol=0.0)


@check("C7", share=2)
def check_generator(student, probe):
    """Leaves the global generator alone"""
    kept = probe.leaves_generators(student.weights, [(2, 3)], 1)
    require(kept is True, "`weights` changed the state of a global generator")
