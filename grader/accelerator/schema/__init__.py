"""What is known of an operator before it runs: the facts of its schema, and whether CUDA's kernel is deterministic.

facts        what its schema says: what it writes to, which results are views, whether it waits
determinism  operators without a deterministic kernel on CUDA
"""
