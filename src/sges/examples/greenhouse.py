"""A greenhouse: eleven continuous variables, invented by us, linear and Gaussian.

Light warms the house and drives photosynthesis; warmth dries the soil, which watering wets,
and breeds pests; nitrogen greens the leaves, moisture makes them grow; sugar and pests decide what
the fruit weighs.  The model is in standard units; ``UNITS`` turns them into those of the table,
which changes no graph.
"""

from functools import cache

import numpy as np

from sges.graph.pdag import PDAG
from sges.network import LinearGaussian

UNITS = {
    "light": (420.0, 90.0),
    "watering": (6.0, 1.5),
    "nitrogen": (38.0, 7.0),
    "temperature": (24.0, 2.5),
    "soil_moisture": (31.0, 5.0),
    "pests": (12.0, 4.0),
    "chlorophyll": (45.0, 6.0),
    "leaf_area": (820.0, 110.0),
    "photosynthesis": (18.0, 3.0),
    "sugar": (9.5, 1.2),
    "fruit_weight": (140.0, 20.0),
}
"""Mean and standard unit of each variable: µmol, litres, mg/kg, °C, %, insects, SPAD, cm², ..."""

EFFECTS = {
    ("light", "temperature"): 0.8,
    ("temperature", "soil_moisture"): -0.7,
    ("watering", "soil_moisture"): 0.9,
    ("temperature", "pests"): 0.6,
    ("nitrogen", "chlorophyll"): 0.8,
    ("soil_moisture", "leaf_area"): 0.6,
    ("light", "photosynthesis"): 0.6,
    ("chlorophyll", "photosynthesis"): 0.5,
    ("leaf_area", "photosynthesis"): 0.6,
    ("photosynthesis", "sugar"): 0.8,
    ("sugar", "fruit_weight"): 0.7,
    ("pests", "fruit_weight"): -0.6,
}
"""How many standard units of the second one unit of the first brings about."""


@cache
def greenhouse() -> LinearGaussian:
    """Return the model, in standard units.

    >>> model = greenhouse()
    >>> model.n, model.dag.edge_count()
    (11, 12)
    """
    names = tuple(UNITS)
    number = {name: v for v, name in enumerate(names)}
    weights = np.zeros((len(names), len(names)))
    for (cause, effect), size in EFFECTS.items():
        weights[number[cause], number[effect]] = size
    edges = [(number[cause], number[effect]) for cause, effect in EFFECTS]
    dag = PDAG.from_edges(len(names), edges, names=names)
    return LinearGaussian(dag, weights, np.full(len(names), 0.5))
