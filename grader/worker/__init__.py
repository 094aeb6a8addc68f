"""The untrusted side: what runs in a worker server and in the workers that it forks.

Theory of operation. The host starts one worker server (`server`), which imports torch and numpy and nothing of the
course. A lane asks it for a worker; it forks one, which gives up what it must not have (`confine`) and then answers
requests (`serve`): load these files, call this function, run this probe beside it. Where fork is not to be had, a lane
starts a fresh interpreter instead (`spawned`), which serves in the same way over its standard streams.

A worker holds its channel, its output, an empty folder, and what the check process sent. It holds no check, no
reference, no score, and no path or descriptor of one. Whatever it says is a claim. Of ours this package imports the
wire, the confinement and the simulated accelerator: the table `FLOORS` in `tests/test_floors.py` holds that.
"""
