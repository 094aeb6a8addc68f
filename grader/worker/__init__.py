"""The untrusted process: the worker server, and the workers that run student code.

__main__, server   the server: imports torch and NumPy and nothing of the course, forks workers
forked, spawned    the life of a worker before it serves: forked and confined, or a fresh interpreter
serve              loads a submission and answers requests: call this function, run this probe
own_probes         the probes that are ready-made
counting           what one call costs, by hooks of PyTorch
ranks              a call on several ranks
raising            describes what student code raised
generators         seeds all generators
uninitialized      fills uninitialized memory, so that whoever reads it is wrong each time
stops              ends a call that takes too long
device, cuda       which accelerator student code sees

A worker holds its channel, its output, an empty folder, and what the check process sent: no check, no reference, no
score, and no path or descriptor of one. What it says is untrusted. Of our packages it imports the wire, the confinement
and the simulated accelerator: the table `FLOORS` in `tests/test_floors.py` enforces that.
"""
