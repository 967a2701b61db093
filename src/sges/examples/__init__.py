"""Example data that come with the package, and the networks they were sampled from.

    asia()          eight binary variables (Lauritzen & Spiegelhalter 1988)
    greenhouse()    eleven continuous variables, a linear Gaussian model of our own
    load(name)      the bundled sample, with its truth
    NAMES           what ``load`` knows

The samples are made by ``scripts/make_examples.py``, and a test checks that they are what it
makes.
"""

from sges.examples.asia import asia
from sges.examples.bundled import NAMES, Example, load
from sges.examples.greenhouse import greenhouse

__all__ = ["NAMES", "Example", "asia", "greenhouse", "load"]
