"""`python -m fusegate.bench` is `fusegate_bench`."""

import sys

from .program import command

if __name__ == "__main__":
    sys.exit(command())
