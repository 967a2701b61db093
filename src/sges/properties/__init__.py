"""Properties that SGES may assume of the truth, and what each says about deletes."""

from sges.properties.base import AtMost, Property
from sges.properties.check import check_property
from sges.properties.measures import (
    MaxClique,
    MaxParents,
    MaxTreewidth,
    MaxVStructures,
    MaxVWidth,
    moral_graph,
)
from sges.properties.treewidth import Between, treewidth

__all__ = [
    "AtMost",
    "Between",
    "MaxClique",
    "MaxParents",
    "MaxTreewidth",
    "MaxVStructures",
    "MaxVWidth",
    "Property",
    "check_property",
    "moral_graph",
    "treewidth",
]
