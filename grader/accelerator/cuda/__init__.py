"""What `torch.cuda` consists of: the functions of the module, streams, graphs, NVTX, copies between devices, NCCL."""
