"""The machine that is simulated: devices, memory, generators, the virtual clock, races, graph capture, asserts.

machine                        its devices, memory, queues and generators, what was counted, the clock
memory, memory_stats           how much memory is taken; what `torch.cuda.memory_stats` returns
addresses                      where storages begin on the device
memory_history                 which line allocated and freed it
clock                          the virtual clock of the host and the devices
spec, gpus                     how fast and how large a device is; real GPUs
generator                      random numbers
races, race_warning            streams that use memory without waiting for each other
capture                        work that is recorded for a graph
stream_history                 the streams that were current when the graph of autograd was made
backward_streams               backward runs on these streams
counters                       launches, transfers and waits
device_asserts, cuda_errors    asserts of kernels; errors in CUDA's words
sync_debug                     waits that `set_sync_debug_mode` warns of or forbids
fork, visible_devices          devices in a forked process; the devices that a program sees
program_lines                  the line of the program at which it called PyTorch or this package
"""
