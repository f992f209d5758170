"""``python -m experiments.paper``."""

import sys

from experiments.paper.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
