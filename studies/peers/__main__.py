"""The command line: ``python -m studies.peers run | report | peers``."""

import sys

from studies.peers.command import main

sys.exit(main())
