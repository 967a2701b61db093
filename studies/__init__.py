"""Studies: the experiments of the paper and the comparison with peers; not part of the package."""
