"""The paper's evidence, reproduced and then exceeded: one experiment per module.

Paper: Section 5, experiments.
"""
