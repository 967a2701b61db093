"""The experiments of the paper and the comparisons with peers; not part of the package."""
