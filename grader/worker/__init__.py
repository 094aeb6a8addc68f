"""The untrusted process: the worker server, and the workers that run student code.

With the standard library alone, for a process that never has PyTorch and NumPy (`PLAIN` in `tests/test_floors.py`):

__main__, server   the server: imports what workers have and nothing of the course, forks workers
serve              a worker: starts, forked or as a fresh interpreter, is confined, loads a submission, answers
                   requests: call this function, run this probe
importer           imports the submission's modules from the bytes that were analysed
absent             packages that an exercise is solved without
libraries          what a worker has besides Python: here nothing
plain_probes       built-in probes: functions of ours that run beside student code

With PyTorch and NumPy:

with_torch         what a worker has besides Python: these two
surroundings       seeds, what uninitialized memory holds, which accelerator student code sees
builtin_probes     the built-in probes, with those of plain_probes; a call on several ranks
counting           what one call costs, by hooks of PyTorch

A worker holds its channel, its output, an empty folder, and what the check process sent: no check, no reference, no
score, and no path or descriptor of one. What it says is untrusted. Of our packages it imports the wire, the sandbox and
the simulated accelerator: the table `LAYERS` in `tests/test_floors.py` enforces that.
"""
