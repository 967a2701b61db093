"""The command ``sges``: each command is a call of the library and an echo.

    learn       a table in, a CPDAG out
    effect      the possible effects of one variable on another
    effects     the effects on one variable, or of one, ranked
    measure     the complexity of a graph and the bounds it satisfies
    compare     how far one graph is from another
    convert     a graph in another format
    plot        a picture of a graph
    report      a result as one HTML page
    simulate    a random network, and data sampled from it
    demo        the bundled example

Every command prints text for people, or with ``--json`` one JSON document.  Results go to
standard output, everything else to standard error.  Exit codes: 0 done, 1 invalid data or file,
2 invalid command line.
"""

from sges.cli.app import main

__all__ = ["main"]
