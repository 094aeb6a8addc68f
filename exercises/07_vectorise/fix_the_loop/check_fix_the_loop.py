import torch

from grader.check import (
    as_number,
    assert_no_loop,
    assert_preserves_dtype,
    assert_shape,
    assert_stays_in_torch,
    assert_tensor,
    assert_values,
    check,
)


@check("C1", share=1)
def check_small(student):
    """Adds up the squares of two samples out of four"""
    assert_values(as_number(student.energy_above(torch.tensor([0.5, 3.0, -4.0, 2.0]), 1.0)), 13.0)


@check("C1", share=1)
def check_table(student):
    """Takes a table, and a single sample of 0 dims"""
    for x, energy in ((torch.tensor([[0.5, 3.0], [-4.0, 2.0], [1.0, 5.0]]), 38.0), (torch.tensor(3.0), 9.0)):
        assert_values(as_number(student.energy_above(x, 1.0)), energy, f"the energy of {x.tolist()}")


@check("C3", category="shape", share=1)
def check_zero_dim(student):
    """Returns a 0-dim tensor"""
    energy = student.energy_above(torch.tensor([1.0, 2.0, 3.0, 4.0]), 2.5)
    assert_tensor(energy)
    assert_shape(energy, ())


@check("C3", share=1)
def check_none_above(student):
    """Gives 0 where no sample is over the threshold"""
    for samples in ([1.25, 0.5, -2.0], []):
        energy = student.energy_above(torch.tensor(samples), 1.5)
        assert_values(as_number(energy), 0.0, f"the energy of torch.tensor({samples})")


@check("C3", category="dtype", share=1)
def check_dtype(student):
    """Keeps the dtype of x"""
    for samples in ([0.25, 0.75], [0.25], [], 0.75):
        assert_preserves_dtype(student.energy_above, torch.tensor(samples), 0.5, what=f"the energy of {samples}")


@check("C4", category="performance", share=3)
def check_no_loop(student):
    """As many operations for 80 samples as for 8, and for 30 rows as for 3"""
    assert_no_loop(student.energy_above, (torch.arange(-4.0, 4.0), 0.0), (torch.arange(-40.0, 40.0), 0.0))
    assert_no_loop(student.energy_above, (torch.ones(3, 4), 0.0), (torch.ones(30, 4), 0.0))


@check("C5", category="gradient", share=1)
def check_stays(student):
    """The numbers stay in PyTorch"""
    assert_stays_in_torch(student.energy_above, torch.tensor([1.0, 2.0, 3.0]), 1.5)
