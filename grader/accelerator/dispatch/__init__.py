"""How an operator runs: checks of devices and dtypes, the run itself, its outputs, and what it costs.

run       runs an operator on the CPU tensors inside, after the checks below
bindings  functions that parse the arguments of an operator faster than the operator
record    the record of one dispatch
devices   one device for all operands, or PyTorch's error
dtypes    dtypes that a GPU's kernels refuse
capture   what a graph that is captured must know of an operator
outputs   wrappers for the results
cost      memory, arithmetic and bytes of an operator
waits     why the host waits for it
"""
