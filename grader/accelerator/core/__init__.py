"""The tensor on a device and its storage, pinned memory, custom operators, the profiler, the errors of CUDA.

tensor, storage     a CPU tensor inside, and a wrapper that PyTorch takes for one of the device
indexing            what stands between the brackets of `x[...]`
printing            the text of a tensor
copies_and_pickles  deep copies and pickles
sparse              what sparse tensors are made of
pinned_memory       host memory that makes transfers faster
custom_operators    operators with kernels of the program's own
profiler            which operators ran, and when on the virtual clock
array_interface     tensors of objects that other libraries have on a device
interop             for programs that exchange tensors with such a process
error_texts         what CUDA says where a CPU kernel says the same in other words
attributes          what a program set on a tensor, and `__dict__`
accumulators        nodes that add up the gradients of leaves, and their streams
backward_errors     errors of Python code in backward
unsupported         errors for what a device does not have
"""
