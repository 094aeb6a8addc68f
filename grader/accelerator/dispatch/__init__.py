"""How an operator runs: checks of devices and dtypes, the run itself, its outputs, and what it costs."""
