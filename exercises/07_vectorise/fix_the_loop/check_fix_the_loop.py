import itertools

import torch

from grader.check import check, is_tensor, no_loop, number, same_dtype, same_shape, same_values, stays_in_torch


@check("C1", share=1)
def check_small(student):
    """Adds up the squares of two samples out of four"""
    same_values(number(student.energy_above(torch.tensor([0.5, 3.0, -4.0, 2.0]), 1.0)), 13.0)


@check("C3", category="shape", share=1)
def check_zero_dim(student):
    """Returns a 0-dim tensor"""
    energy = student.energy_above(torch.tensor([1.0, 2.0, 3.0, 4.0]), 2.5)
    is_tensor(energy)
    same_shape(energy, ())


@check("C3", share=1)
def check_none_above(student):
    """Gives 0 where no sample is over the threshold"""
    for samples in ([1.25, 0.5, -2.0], []):
        energy = student.energy_above(torch.tensor(samples), 1.5)
        same_values(number(energy), 0.0, f"the energy of torch.tensor({samples})")


@check("C3", category="dtype", share=1)
def check_dtype(student):
    """Keeps the dtype of x"""
    dtypes = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
    cases = list(itertools.product(([0.25, 0.75], [0.25], [], 0.75), dtypes))
    energies = (student.energy_above(torch.tensor(samples, dtype=dtype), 0.5) for samples, dtype in cases)
    for (samples, dtype), energy in zip(cases, energies, strict=True):
        same_dtype(energy, dtype, f"the energy of torch.tensor({samples}, dtype={dtype})")


@check("C4", category="performance", share=2)
def check_no_loop(student):
    """As many operations for 80 samples as for 8"""
    student.energy_above(torch.tensor([1.0, 2.0, 3.0]), 1.5)
    no_loop(student.energy_above, (torch.arange(-4.0, 4.0), 0.0), (torch.arange(-40.0, 40.0), 0.0))


@check("C4", category="performance", share=1)
def check_rows(student):
    """As many operations for 30 rows as for 3"""
    no_loop(student.energy_above, (torch.ones(3, 4), 0.0), (torch.ones(30, 4), 0.0))


@check("C5", category="gradient", share=1)
def check_stays(student):
    """The numbers stay in PyTorch"""
    stays_in_torch(student.energy_above, torch.tensor([1.0, 2.0, 3.0]), 1.5)
