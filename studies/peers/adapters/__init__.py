"""One file per library: what to install, which programs it offers, how each is called.

A file here that holds ``PEERS`` is part of the benchmark; nothing else has to be told of it.
"""
