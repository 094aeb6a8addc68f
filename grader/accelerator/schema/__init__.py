"""What is known of an operator before it runs: the facts of its schema, and which kernel it has on CUDA.

facts         what its schema says: what it writes to, which results are views, whether it waits
determinism   operators without a deterministic kernel on CUDA
cuda_kernels  the name of its kernel in errors, and whether it compares the devices of the operands
"""
