"""The sandbox around workers: Linux namespaces, a root of their own, Landlock, a system-call filter. Usable by itself.

Theory of operation. The `zygote` imports PyTorch, and forks a launcher before anything of a course is read. `launch`
enters namespaces, builds a root that holds the interpreter, its packages and what both need (`view`), and becomes the
worker server inside, which stays there. The server forks workers into namespaces that those share which may start
nothing; a worker that may start processes has its own, which end with it. Each gives up every privilege before it
receives anything (`levels`).

A layer that cannot be applied raises, and that worker ends: no layer is skipped because it failed. What was reached in
the end is not believed but tried, by `trials` in a throw-away worker; `grader.runner.promises` names the level.

launch             builds namespaces and a root, and becomes the worker server inside
view               the root that workers see
levels             what a worker gives up, for each level
namespaces, namespace_limits  into which workers are forked, and how many there may be
landlock, seccomp  which paths can be opened; which system calls are refused
cgroup             limits on a whole worker, where control groups can be written
check_confinement  what a check process gives up
trials             probes that try what a worker can do
probe_targets      files and sockets of the host that probes try to reach
kernel             the system calls that Python has no name for
clock              what the system says of a process, from outside
process, child     how our processes are started, and how they end
zygote, forks      the process that others are forked from; forks on request
start_messages, fork_messages, datagrams, trees  what these processes say to each other
slow_imports       keeps parts of PyTorch from being imported before they are used

It needs the standard library alone; the zygote imports by name what its children need.
"""
