"""Theorem 2: the corrected form on all small pairs, and counterexamples to the printed form."""

from dataclasses import dataclass

import pytest

import naive
from bridge import arcs_of, frozen, pdag_of
from naive import Arcs
from sges.graph import PDAG, is_cpdag, is_dag, is_imap
from sges.operators import Delete, all_deletes
from sges.properties import AtMost, MaxClique, MaxParents
from sges.selective import (
    Reading,
    consistency_set,
    is_consistent,
    selective_generate_ops,
)


def equivalent_on(s: frozenset[int], a: Arcs, b: Arcs) -> bool:
    """Return whether two graphs induce the same skeleton and v-structures on s.

    The strongest EIH property of G holds for a subgraph on s iff the subgraph is equivalent to
    G[s]; a delete that is consistent with it is consistent with every EIH property of G.
    """
    inside_a = frozenset((x, y) for x, y in a if x in s and y in s)
    inside_b = frozenset((x, y) for x, y in b if x in s and y in s)
    return naive.class_of(inside_a) == naive.class_of(inside_b)


def count_pairs_and_failures(n: int, reading: Reading) -> tuple[int, int]:
    """Return the number of pairs G < C, and of those without a consistent delete."""
    classes = [
        (c, dags[0], naive.independences(n, dags[0])) for c, dags in naive.all_cpdags(n).items()
    ]
    by_cpdag = {c: bits for c, _, bits in classes}
    pairs = failures = 0
    for cpdag, _, of_c in classes:
        g = pdag_of(n, cpdag)
        afters = {(d.x, d.y, after) for d in all_deletes(g) for after in [d.apply(g)]}
        options = [
            (
                by_cpdag[arcs_of(after)],
                frozen(consistency_set(after, x, y, reading)),
                arcs_of(after),
            )
            for x, y, after in afters
        ]
        for _, truth, of_g in classes:
            if of_g == of_c or of_c & ~of_g:
                continue
            pairs += 1
            failures += not any(
                not of_after & ~of_g and equivalent_on(s, truth, after)
                for of_after, s, after in options
            )
    return pairs, failures


@pytest.mark.parametrize("n", [2, 3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_theorem_2_repaired_holds_for_every_pair_and_every_eih_property(n: int) -> None:
    pairs, failures = count_pairs_and_failures(n, "repaired")
    assert failures == 0
    assert pairs == {2: 1, 3: 31, 4: 2989}.get(n, pairs)


@pytest.mark.parametrize("reading", ["children", "descendants"])
def test_theorem_2_holds_in_the_other_readings_up_to_four_nodes(reading: Reading) -> None:
    """The printed form holds for small graphs, so that brute force does not refute it."""
    assert count_pairs_and_failures(4, reading) == (2989, 0)


@dataclass(frozen=True)
class CounterExample:
    """A truth G that has a property, and a state C that Definition 1 cannot leave."""

    g: PDAG
    c: PDAG
    prop: AtMost
    keep_the_imap: frozenset[Delete]


SIX = CounterExample(
    g=PDAG.from_edges(6, [(2, 1), (3, 1), (1, 0), (0, 5)]),
    c=PDAG.from_edges(6, [(4, 0), (5, 0), (0, 1), (4, 1), (1, 2), (1, 3)], [(2, 3)]),
    prop=MaxClique(2),
    keep_the_imap=frozenset({Delete(4, 0), Delete(4, 1)}),
)
EIGHT = CounterExample(
    g=PDAG.from_edges(8, [(0, 5), (1, 3), (1, 4), (2, 3), (2, 4), (3, 0), (4, 0), (5, 7)]),
    c=PDAG.from_edges(
        8,
        [(0, 3), (0, 4), (3, 1), (3, 2), (4, 1), (4, 2), (5, 0), (6, 0), (6, 5), (7, 5)],
        [(1, 2), (3, 4)],
    ),
    prop=MaxParents(2),
    keep_the_imap=frozenset({Delete(6, 0), Delete(6, 5)}),
)


@pytest.mark.parametrize("example", [SIX, EIGHT], ids=["n=6, cliques", "n=8, parents"])
class TestDefinition1AsPrintedIsStuck:
    """G has the property, G < C, but no delete is consistent in the printed sense."""

    def test_the_example_meets_the_premises_of_theorem_2(self, example: CounterExample) -> None:
        assert is_dag(example.g)
        assert is_cpdag(example.c)
        assert example.prop.holds(example.g)
        assert is_imap(example.c, example.g)
        assert not is_imap(example.g, example.c)

    def test_only_two_deletes_keep_the_imap(self, example: CounterExample) -> None:
        keep = {d for d in all_deletes(example.c) if is_imap(d.apply(example.c), example.g)}
        assert keep == example.keep_the_imap

    def test_neither_is_consistent_as_printed(self, example: CounterExample) -> None:
        for delete in example.keep_the_imap:
            assert not is_consistent(delete, example.c, example.prop, reading="descendants")

    def test_one_is_consistent_as_repaired_and_proposed(self, example: CounterExample) -> None:
        consistent = {d for d in example.keep_the_imap if is_consistent(d, example.c, example.prop)}
        assert consistent
        for d in consistent:
            assert d.h in selective_generate_ops(example.c, d.x, d.y, 0)
