"""Proposition 1: Selective-Generate-Ops proposes every Π-consistent delete."""

from functools import cache
from itertools import islice

import pytest

import naive
from bridge import measured, pdag_of
from sges.graph import PDAG
from sges.nodeset import nodes
from sges.operators import all_deletes
from sges.properties import AtMost, MaxClique, MaxParents, MaxTreewidth, MaxVStructures, MaxVWidth
from sges.selective import consistency_set, proposed_sets, selective_generate_ops


@pytest.mark.parametrize(
    ("n", "share"), [(2, 1), (3, 1), (4, 1), (5, 4), pytest.param(5, 1, marks=pytest.mark.slow)]
)
def test_every_consistent_delete_is_proposed_under_every_property(n: int, share: int) -> None:
    """On every CPDAG, or one in ``share``, for the smallest W of all readings, and so for all.

    The smallest W has the common children.  The smallest k for which a delete is consistent is the
    measure of its subgraph; a delete that is proposed for this k is also proposed for every larger
    k.
    """
    for arcs in islice(naive.all_cpdags(n), 0, None, share):
        g = pdag_of(n, arcs)
        proposed = {
            (x, y, s): selective_generate_ops(g, x, y, s)
            for x in range(n)
            for y in range(n)
            if g.out[x] >> y & 1
            for s in range(n)
        }
        for d in all_deletes(g):
            after = d.apply(g)
            part = after.induced(nodes(consistency_set(after, d.x, d.y, "children")))
            for prop in properties_at_their_measure(part):
                assert d.h in proposed[d.x, d.y, min(prop.clique_bound or 0, n - 1)], (d, prop)
            assert d.h in proposed_sets(g, d.x, d.y, None, v_structures(part))


@cache
def v_structures(part: PDAG) -> int:
    return measured(MaxVStructures, part)


@cache
def properties_at_their_measure(part: PDAG) -> list[AtMost]:
    return [
        MaxParents.of(part),
        MaxClique.of(part),
        MaxClique(measured(MaxClique, part), tight=True),
        MaxVWidth.of(part),
        MaxTreewidth.of(part),
    ]


@pytest.mark.parametrize("n", [3, 4])
def test_one_less_than_the_bound_would_miss_a_consistent_delete(n: int) -> None:
    """The bound is tight for the v-width: s = k − 1 misses a consistent delete."""
    missed = 0
    for arcs in naive.all_cpdags(n):
        g = pdag_of(n, arcs)
        for d in all_deletes(g):
            after = d.apply(g)
            part = after.induced(nodes(consistency_set(after, d.x, d.y)))
            k = measured(MaxVWidth, part)
            if k > 0:
                missed += d.h not in selective_generate_ops(g, d.x, d.y, k - 1)
    assert missed > 0
