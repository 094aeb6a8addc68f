"""Operators whose implementation is not the CPU's kernel on the tensors inside."""
