"""`python -m ropewalk`."""

import sys

from ropewalk.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
