"""Messages between two processes: bounded, typed, and free of pickle.

With the standard library alone, so that a process without PyTorch and NumPy has them, too (`PLAIN` in
`tests/test_floors.py`):

frames      one message on a stream: a header, a tree of JSON, and raw memory; what it may hold, and the errors
transport   how bytes travel: a socket that can carry descriptors of shared memory, or a pair of pipes
plain       values without identity: numbers, text, bytes
table       what both processes of one call know by number
containers  plain values -> tree, and back

With PyTorch and NumPy:

memory      blocks of memory, and layouts on them
dtypes      dtypes, and other values of PyTorch and NumPy without identity
facts       what a worker says about a tensor besides its numbers; tensors of an accelerator
encode      values with tensors and arrays -> tree and blocks
decode      tree and blocks -> values
call        a call that is encoded once, for all that is made of it; copies of values

Everything that a worker sends is untrusted. The decoder checks it with Python integers before it uses it, and every
refusal is a `ProtocolError`.
"""
