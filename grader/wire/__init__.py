"""What two processes say to each other: bounded, typed, and free of pickle.

The stream, without torch:

bounds      what one message may hold, and the errors
tree        the tree of a frame, as JSON
shared      memory that travels as a descriptor
frames      one message on a stream: a header, a tree, data (raw memory)
transport   how bytes travel: a socket that can carry descriptors, or a pair of pipes

Values and memory:

checked     parts of what arrived, held to types and bounds
rows        what a message tells of objects and blocks, as records
blocks      where tensors and arrays lie, and blocks of memory that several of them share
devices     how tensors of an accelerator are told and made
describe    tensors and arrays as rows, and back
plain       dtypes, devices, scalars, bytes and text, and back
handles     objects that stay with a worker; special: the special methods that they may have
claimed     what a worker says of tensors that are here now
named       named tuples
public      functions and classes of PyTorch's, NumPy's and Python's, by their names
graphs      tensors here as parts of a graph in the worker
held        lists, dicts and the like that both ends know
exchange    what both ends know in common: objects by number, memory by block

One message:

nesting     how deep and wide containers are
placing     which block each tensor and array lies in
values      objects as values of the tree
outgoing    a message being written
containers  containers, weighed and built
changes     what the other end changed of an object that this end holds
incoming    a message being read

Everything that arrives is a claim. It is checked for bounds with Python integers before it is used, and every refusal
is a `ProtocolFault`.
"""
