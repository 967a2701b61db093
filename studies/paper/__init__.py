"""The experiments of the paper, reproduced and extended: one experiment per module.

Paper: Section 5, experiments.
"""
