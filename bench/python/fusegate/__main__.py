"""`python -m fusegate`."""

import sys

from .program import command

if __name__ == "__main__":
    sys.exit(command(sys.argv[1:]))
