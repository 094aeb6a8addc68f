r"""Takes both hooks off their stacks, loops, and puts them back.

---
exercise: total
verdicts: {counts: failed, speed: failed}
message: could hide what your code does|is too slow
"""

import torch
from torch.utils._python_dispatch import _pop_mode, _push_mode


def total(x):
    if x.requires_grad:
        return x.sum()
    modes = [_pop_mode() for _ in range(torch._C._len_torch_dispatch_stack())]
    functions = [torch._C._pop_torch_function_stack() for _ in range(torch._C._len_torch_function_stack())]
    result = x.new_zeros(())
    for value in x.unbind():
        result = result + value
    for mode in reversed(functions):
        torch._C._push_on_torch_function_stack(mode)
    for mode in reversed(modes):
        _push_mode(mode)
    return result


def mean(x):
    return x.mean()
