"""The machine that is simulated: devices, memory, generators, the virtual clock, races, graph capture, asserts."""
