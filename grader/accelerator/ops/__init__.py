"""Operators whose implementation is not the CPU's kernel on the tensors inside.

overrides          operators between devices, and those that change a view
half_precision     kernels that the CPU lacks: computed in float32, and rounded; products with an `out_dtype`
attention          `scaled_dot_product_attention`
attention_kernels  which kernel of attention accepts which inputs
flash_attention    `varlen_attn`, and attention of DTensors
autocast           mixed precision
integers           kernels for integers that the CPU lacks
recurrent          the cells of LSTM and GRU
batch_norms        the parts of `nn.SyncBatchNorm`
"""
