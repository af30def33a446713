"""`python -m rooflens` is the command `rooflens`."""

import sys

from rooflens.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
