"""What `torch.cuda` consists of: the functions of the module, streams, graphs, NVTX, copies between devices, NCCL.

device_module     the functions of `torch.cuda`
memory_snapshots  snapshots and the history of memory, as PyTorch's tools read them
streams           streams and events
graphs            CUDA graphs
graph_hooks       those of PyTorch 2.14, which call hooks
pools             pools of memory
communication     copies between the devices of one process
nccl              `backend="nccl"` of torch.distributed, over gloo
nvtx              ranges, as spans on the virtual clock
cudart            CUDA's runtime, as far as programs call it
"""
