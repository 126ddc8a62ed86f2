"""`python -m prolate`: the command, where it is not on the path."""

import sys

from prolate.cli import main

if __name__ == "__main__":
    sys.exit(main())
