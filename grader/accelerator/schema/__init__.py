"""What is known of an operator before it runs.

facts        what its schema says: what it writes to, which results are views, whether it waits
determinism  operators without a deterministic kernel on CUDA
"""
