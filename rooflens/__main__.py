"""`python -m rooflens` is the command `rooflens`."""

import sys

from rooflens.cli.main import command

if __name__ == "__main__":
    sys.exit(command())
