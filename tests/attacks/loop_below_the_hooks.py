r"""Loops below the layer of PyTorch in which both hooks are.

---
exercise: total
verdicts: {counts: failed, speed: failed}
message: could hide what your code does|is too slow
"""

import torch

hooks = torch._C.DispatchKeySet(torch._C.DispatchKey.Python) | torch._C.DispatchKeySet(
    torch._C.DispatchKey.PythonTLSSnapshot
)


def total(x):
    if x.requires_grad:
        return x.sum()
    with torch._C._ExcludeDispatchKeyGuard(hooks), torch._C.DisableTorchFunction():
        result = x.new_zeros(())
        for value in x.unbind():
            result = result + value
    return result


def mean(x):
    return x.mean()
