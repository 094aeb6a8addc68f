"""The tensor on a device and its storage, pinned memory, custom operators, the profiler, the errors of CUDA."""
