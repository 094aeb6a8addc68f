"""A client of student code, which runs in another process: calls go out, replies come in, objects there have proxies.

connection   one exercise of one author, or of the reference: requests go out, replies come in; proxies of objects there
student      `student.total(x)`: the names of the module; probes: functions that run beside student code
raised       what student code raised, raised again as a builtin type
record       what one check did: its calls, what student code changed, what was counted and measured

Everything that arrives is untrusted. The loss of a worker is `endings.WorkerLost`.
"""
