"""`python -m grader.accelerator script.py`, or `-m module`: runs a program with a simulated CUDA."""

import sys

from grader.accelerator.tools.launcher import main

if __name__ == "__main__":
    sys.exit(main())
