"""The command line: ``python -m benchmarks run | report | peers | add``."""

import sys

from benchmarks.command import main

sys.exit(main())
