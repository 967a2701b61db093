"""Bounds on the number of score evaluations of a search, where there are any."""

from math import comb

from sges.search.run import Run, Selection

ORDERS = 50
"""How often the search for orders begins at most, and goes over all nodes each time."""

SEARCHES = 4
"""The factor by which relaxed knowledge may increase the score evaluations of a search."""


def bound_of(run: Run, forward: str, selection: Selection) -> int | None:
    """Return the bound on score evaluations of a whole run, or None if it has none."""
    relaxes = run.constraint is not None and run.constraint.relaxed is not None
    backward_bound = None if run.block else sbes_bound(run.n, selection)
    if backward_bound is None or forward == "fes":
        return None
    poly = poly_fes_bound(run.n)
    forward_bound = {"poly": poly, "order": order_bound(run.n), "complete": 0, "given": 0}[forward]
    if relaxes:  # the repair uses a polynomial forward phase, even if the first one is another
        return SEARCHES * (max(poly, forward_bound) + backward_bound)
    return forward_bound + backward_bound


def sbes_bound(n: int, selection: Selection) -> int | None:
    """Return a bound on the unique families that SBES evaluates, or None if H is not bounded.

    There are at most n(n−1)/2 + 1 states; in each at most n(n−1) edges, counting both orders;
    for each edge at most n maximal cliques, and the subsets of up to s nodes of one; and two
    families per operator.

    Paper: Proposition 2.
    """
    cliques, size = selection.bounds
    limits = [bound for bound in (cliques, size) if bound is not None]
    if not limits:
        return None
    states = n * (n - 1) // 2 + 1
    subsets = sum(comb(max(n - 2, 0), j) for j in range(min(limits) + 1))
    return 2 * states * n * (n - 1) * n * subsets


def poly_fes_bound(n: int, largest_t: int = 0) -> int:
    """Return a bound on the number of unique families that ``poly_fes`` evaluates.

    There are at most n(n−1)/2 + 1 states; in each, for each ordered pair, one operator of the
    member DAG and one for each set T; and two families per operator.
    """
    states = n * (n - 1) // 2 + 1
    per_pair = 1 + sum(comb(max(n - 2, 0), j) for j in range(min(largest_t, max(n - 2, 0)) + 1))
    return 2 * states * n * (n - 1) * per_pair


def order_bound(n: int) -> int:
    """Return a bound on the number of unique families that ``forward="order"`` evaluates.

    The first order costs at most the bound of poly-FES.  The search for orders begins at most
    ``ORDERS`` times; each time it chooses parents for n nodes, and as often twice for every node
    and position.  A choice adds and removes at most n − 1 parents, with at most n families each.
    """
    choices = ORDERS * (n + ORDERS * n * 2 * max(n - 1, 0))
    return poly_fes_bound(n) + choices * 2 * n * n
