"""Messages between two processes: bounded, typed, and free of pickle.

The stream, which needs no torch:

frames      one message on a stream: a header, a tree of JSON, and raw memory; what it may hold, and the errors
transport   how bytes travel: a socket that can carry descriptors of shared memory, or a pair of pipes

Values:

memory      blocks of memory, layouts on them, and the table that both processes of one call have
plain       values without identity: numbers, text, dtypes, devices
facts       what a worker says about a tensor besides its numbers; tensors of an accelerator
encode      values -> tree and blocks
decode      tree and blocks -> values; copies of values

Everything that a worker sends is untrusted. The decoder checks it with Python integers before it uses it, and every
refusal is a `ProtocolError`.
"""
