"""`python -m prolate.cli`: the same as `python -m prolate`."""

import sys

from prolate.cli import main

if __name__ == "__main__":
    sys.exit(main())
