"""The sandbox around workers: Linux namespaces, a root of their own, Landlock, a system-call filter. Usable by itself.

Theory of operation. The `zygote` imports PyTorch, and forks a launcher before anything of a course is read. `launch`
enters namespaces, builds a root that holds the interpreter, its packages and what both need (`view`), and becomes the
worker server inside, which stays there. The server forks workers into namespaces that those share which may start
nothing; a worker that may start processes has its own, which end with it. Each gives up every privilege before it
receives anything (`levels`).

A layer that cannot be applied raises, and that worker ends: no layer is skipped because it failed. What was reached in
the end is not believed but tried, by `trials` in a throw-away worker; `grader.runner.promises` names the level.

It needs the standard library alone; the zygote imports by name what its children need.
"""
