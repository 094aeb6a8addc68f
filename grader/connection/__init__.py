"""The check process's end of a connection to student code, which runs in another process.

connection   one exercise of one author, or of the reference: requests go out, replies come in; proxies of objects there
student      `student.total(x)`: the names of the module; probes: functions that run beside student code
raised       what student code raised, raised again as a builtin type
record       what one check did: its calls, what student code changed, what was counted and measured
process      one worker as a process: bytes to and from it, deadlines, its end
starting     the two ways to start a worker: forked by the worker server, or as a fresh interpreter
timing       calls with our clock around them
measurement  two functions compared by CPU time, in pairs of fresh workers
ratio        the decision about samples of such a comparison

Everything that arrives is untrusted. The loss of a worker is `endings.WorkerLost`.
"""
