"""A comparison of speed: two functions timed from outside, in pairs of fresh workers.

timing       calls with our clock around them
measurement  two functions compared by CPU time, in as many pairs of workers as it takes
ratio        the decision about samples of such a comparison
"""
