"""Fig. 7: the example for Selective-Generate-Ops."""

from bridge import frozen
from sges.graph import PDAG
from sges.selective import selective_generate_ops

X, Y, A, B = range(4)


def proposed(s: int) -> set[frozenset[int]]:
    return {frozen(h) for h in selective_generate_ops(PDAG.complete(4), X, Y, s)}


def test_the_example_yields_the_sets_that_the_paper_lists() -> None:
    assert proposed(0) == {frozenset()}
    assert proposed(1) == {frozenset(), frozenset({A}), frozenset({B})}
    for s in (2, 3, 10):
        assert proposed(s) == {frozenset(), frozenset({A}), frozenset({B}), frozenset({A, B})}
