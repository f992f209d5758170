"""Run the command line by ``python -m eigencut``."""

import sys

from eigencut.cli import main

if __name__ == "__main__":
    sys.exit(main())
