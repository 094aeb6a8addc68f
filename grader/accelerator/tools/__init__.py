"""Programs around the device: the launcher, child processes, virtual time, costs by line.

launcher          runs a program with a simulated CUDA
arguments         numbers in options of the launcher and of the plugin for pytest
child_processes   gives the device to processes that the program starts
virtual_time      lets programs read the virtual clock
line_costs        virtual time by line of a program
answers           what each name of `torch.cuda` does
missing_packages  packages that need a real GPU, and what to do without them
startup           the folder on PYTHONPATH by which child processes learn of the device
"""
