"""The paper's evidence, reproduced and then exceeded: one experiment per module.

``run`` makes the rows that are missing, then the plot and the one-page summary:

    python -m sges.experiments figure-8 --out docs/experiments

Paper: Section 5, experiments.
"""

from sges.experiments.frame import Experiment, Progress, Report
from sges.experiments.registry import EXPERIMENTS, run

__all__ = ["EXPERIMENTS", "Experiment", "Progress", "Report", "run"]
