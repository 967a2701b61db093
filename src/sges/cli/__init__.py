"""The command ``sges``: a thin skin over the library.

    learn       a table in, a CPDAG out
    measure     the properties of a graph, and the bound that each would give SGES
    compare     how far one graph is from another
    simulate    a random network, and data sampled from it
    demo        the bundled example

Every command prints text for people, or with ``--json`` one JSON document.  Results go to
standard output, everything else to standard error.  Exit codes: 0 done, 1 the data (or the file,
or the disk) would not do, 2 the command was wrong.
"""

from sges.cli.app import main

__all__ = ["main"]
