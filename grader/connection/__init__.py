"""The check process's end of a connection to student code, which runs in another process.

connection   one exercise of one author, or of the reference: requests go out, replies come in
student      `student.total(x)`: the names of the module
proxy        stands in a check for an object that stays in the worker; supports six operations
probe        functions that run beside student code: an exercise's own, and ours
raised       what student code raised, raised again as a builtin type
record       what one check did: its calls, what student code changed, what was counted and measured
process      one worker as a process: bytes to and from it, deadlines, its end
starting     what every way to start a worker needs; `fork` and `spawn` are the two ways
timing       a call with our clock around it
measurement  two functions compared by CPU time: `paired_run` collects `samples`, `ratio` decides

Everything that arrives is untrusted. The loss of a worker is `endings.WorkerLost`.
"""
