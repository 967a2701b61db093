"""The golden problems: fast searches by name, with the same result on every machine.

They use public functions only, so that they do not depend on the engine.  The file ``steps.json``
contains the steps of the predecessor, which searched in Python (``golden.make``).
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from golden.customs import Forest, LocalOnly, Lopsided, MaxDegree, Regression, WholeNumbers
from golden.record import Record, record_of
from golden.tables import (
    collinear,
    common_factor,
    conditional_tables,
    covariance,
    discrete,
    gaussian,
    mixed,
    order_of,
    truth,
    with_constant,
)
from sges import (
    PDAG,
    BayesianNetwork,
    Knowledge,
    MaxClique,
    MaxParents,
    MaxTreewidth,
    MaxVStructures,
    MaxVWidth,
    Result,
    Strategy,
    learn,
)
from sges.graph import dag_to_cpdag, topological_order
from sges.properties import Property
from sges.score import (
    BDeu,
    BGe,
    DegenerateGaussian,
    DiscreteBIC,
    GaussianBIC,
    GaussianOracle,
    OracleMDL,
    Score,
    SeparationOracle,
)
from sges.search import bes, fes, ges, interleaved, poly_fes, sbes, search, turning
from sges.search import sges as selective
from sges.search.auto import AutoResult, auto_bound

Found: TypeAlias = Result | AutoResult
Search: TypeAlias = Callable[[], Found]
MakeScore: TypeAlias = Callable[[], Score]


@dataclass(frozen=True, slots=True)
class Problem:
    """One search on one score."""

    name: str
    category: str
    search: Search

    def record(self) -> Record:
        """Run the search and return its record, without warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return record_of(self.search())


PROBLEMS: dict[str, Problem] = {}


def add(category: str, name: str, search: Search) -> None:
    """Register a problem."""
    full = f"{category}: {name}"
    assert full not in PROBLEMS, full
    PROBLEMS[full] = Problem(full, category, search)


def with_start(graph: PDAG) -> dict[str, Any]:
    """Return the argument by which ``sges``, ``search`` and ``learn`` start from a graph."""
    return {"start": graph}


def cpdag_of(n: int, edges: int, seed: int) -> PDAG:
    """Return the true class of the table with these parameters."""
    return dag_to_cpdag(PDAG.from_edges(n, truth(n, edges, seed)))


def on(score: MakeScore, how: Callable[..., Found], *arguments: Any, **options: Any) -> Search:  # noqa: ANN401
    """Return a search that makes its score when it runs."""
    return lambda: how(score(), *arguments, **options)


def of(kind: Callable[..., Score], table: Callable[[], Any], **options: Any) -> MakeScore:  # noqa: ANN401
    """Return a function that makes a score of a table."""
    return lambda: kind(table(), **options)


def bic(n: int, edges: int, rows: int, seed: int, **options: Any) -> MakeScore:  # noqa: ANN401
    """Return a function that makes the BIC of a Gaussian table."""
    return of(GaussianBIC, partial(gaussian, n, edges, rows, seed), **options)


def discrete_bic(n: int, edges: int, rows: int, seed: int, **options: Any) -> MakeScore:  # noqa: ANN401
    """Return a function that makes the BIC of a discrete table."""
    return of(DiscreteBIC, partial(discrete, n, edges, rows, seed), **options)


# Sizes: the same search on more and more columns, from trees to dense graphs

OTHER_SEEDS = {(10, 2): 1112, (20, 4): 1124}  # where rounding decides between tied orders

for n, rows in ((10, 300), (20, 1000), (30, 2000), (50, 10_000), (100, 2000), (200, 1000)):
    for times in (1, 2, 4):
        about = f"{n} columns, {times * n} edges, {rows} rows"
        make = bic(n, times * n, rows, OTHER_SEEDS.get((n, times), 1000 + n + times))
        if times * n <= 400:
            add("size", f"ges, {about}", on(make, ges))
            add("size", f"interleaved, {about}", on(make, interleaved))
        if times * n <= 100:
            add("size", f"extended, {about}", on(make, search, strategy="extended"))

# Strategies, each on sparse, dense and short tables

STRATEGIES: dict[str, Strategy | str] = {
    "turning": "turning",
    "conservative": "conservative",
    "extended, patience 0.1": Strategy(interleaved=True, order=True, extended=True, patience=0.1),
    "extended, 40 evaluations": Strategy(interleaved=True, extended=True, max_evaluations=40),
    "extended in two phases": Strategy(extended=True),
    "interleaved, also from an order": Strategy(interleaved=True, order=True),
    "conservative in two phases": Strategy(conservative=True),
    "turning once": Strategy(turning=True),
    "conservative, extended": Strategy(interleaved=True, conservative=True, extended=True),
}
STRATEGY_SCORES: dict[str, MakeScore] = {
    "20 columns, 20 edges": bic(20, 20, 500, 2001),
    "20 columns, 50 edges": bic(20, 50, 1000, 2013),
    "25 columns, 60 edges, 80 rows": bic(25, 60, 80, 2003),
    "discrete": discrete_bic(12, 18, 800, 2004),
}
for how, strategy in STRATEGIES.items():
    for about, make in STRATEGY_SCORES.items():
        add("strategy", f"{how}, {about}", on(make, search, strategy=strategy))

# Scores other than the BIC of Gaussian tables, and its penalties

for n, edges, rows in ((8, 10, 200), (20, 30, 1000), (40, 80, 2000)):
    about = f"{n} columns, {edges} edges, {rows} rows"
    bge = of(BGe, partial(gaussian, n, edges, rows, 3100 + n))
    add("score", f"BGe, ges, {about}", on(bge, ges))
    add("score", f"BGe, extended, {about}", on(bge, search, strategy="extended"))
add(
    "score",
    "BGe with another prior, interleaved",
    on(of(BGe, partial(gaussian, 15, 30, 60, 3100), alpha_mu=0.5, alpha_w=30.0), interleaved),
)
for penalty in (0.5, 2.0):
    make = bic(20, 40, 500, 3210, penalty=penalty)
    add("score", f"penalty {penalty}, ges", on(make, ges))
    add("score", f"penalty {penalty}, extended", on(make, search, strategy="extended"))
    make = discrete_bic(12, 20, 600, 3201, penalty=penalty)
    add("score", f"penalty {penalty}, discrete, ges", on(make, ges))
    make = of(DegenerateGaussian, partial(mixed, 12, 20, 600, 3202), penalty=penalty)
    add("score", f"penalty {penalty}, mixed, interleaved", on(make, interleaved))

for n, edges, rows, arities in (
    (5, 6, 300, (2, 2)),
    (8, 12, 1000, (2, 3)),
    (15, 20, 2000, (2, 5)),
    (20, 40, 3000, (3, 4)),
    (30, 45, 5000, (2, 4)),
    (10, 18, 250, (3, 4)),
):
    about = f"{n} columns, {edges} edges, {rows} rows, {arities[0]} to {arities[1]} levels"
    table = partial(discrete, n, edges, rows, 3300 + n, arities)
    add("discrete", f"BIC, ges, {about}", on(of(DiscreteBIC, table), ges))
    add("discrete", f"BIC, interleaved, {about}", on(of(DiscreteBIC, table), interleaved))
    add("discrete", f"BDeu, ges, {about}", on(of(BDeu, table), ges))
    if n <= 15:
        extended = partial(search, strategy="extended")
        add("discrete", f"BDeu 10, extended, {about}", on(of(BDeu, table, ess=10.0), extended))

for n, edges, rows in ((6, 8, 300), (12, 20, 1000), (20, 30, 2000)):
    about = f"{n} columns, {edges} edges, {rows} rows"
    make = of(DegenerateGaussian, partial(mixed, n, edges, rows, 3400 + n))
    add("mixed", f"ges, {about}", on(make, ges))
    add("mixed", f"extended, {about}", on(make, search, strategy="extended"))
add(
    "mixed",
    "sges with poly-FES",
    on(
        of(DegenerateGaussian, partial(mixed, 14, 20, 500, 3450)),
        selective,
        MaxParents(2),
        forward="poly",
    ),
)

# Tables that are difficult numerically or for the search

AWKWARD: dict[str, MakeScore] = {
    "weak signals": of(GaussianBIC, partial(gaussian, 20, 40, 1000, 4001, (0.05, 0.2))),
    "30 rows": bic(12, 18, 30, 4002),
    "hardly more rows than columns": bic(30, 40, 45, 4013),
    "nearly collinear": of(GaussianBIC, partial(collinear, 12, 18, 500, 4004, 0.01)),
    "very nearly collinear": of(GaussianBIC, partial(collinear, 10, 12, 500, 4005, 0.003)),
    "a constant column": of(GaussianBIC, partial(with_constant, 12, 18, 500, 4006)),
    "a common factor behind 8": of(GaussianBIC, partial(common_factor, 8, 3, 1000, 4007)),
    "independent columns": bic(25, 0, 200, 4008),
}
for about, make in AWKWARD.items():
    add("awkward", f"{about}, ges", on(make, ges))
    add("awkward", f"{about}, extended", on(make, search, strategy="extended"))
add(
    "awkward",
    "a common factor behind 8, sges with poly-FES and v-width 2",
    on(AWKWARD["a common factor behind 8"], selective, MaxVWidth(2), forward="poly"),
)
add("awkward", "fewer rows than columns, ges", on(bic(30, 40, 25, 4003), ges))
add(
    "awkward",
    "nearly collinear, BGe, interleaved",
    on(of(BGe, partial(collinear, 12, 18, 500, 4009, 0.01)), interleaved),
)

# Forward phases

kept: Property
FORWARD: dict[str, MakeScore] = {
    "Gaussian": bic(15, 25, 400, 5011),
    "many columns": bic(70, 100, 500, 5105),
    "discrete": discrete_bic(10, 14, 700, 5003),
}
for about, make in FORWARD.items():
    add("forward", f"fes, {about}", on(make, fes))
    add("forward", f"poly_fes, {about}", on(make, poly_fes))
    add("forward", f"poly_fes, largest_t 1, {about}", on(make, poly_fes, max_t=1))
    for word in ("poly", "order"):
        add("forward", f"sges after {word}, {about}", on(make, selective, forward=word))
for about, make in (
    ("Gaussian", bic(8, 12, 300, 5004)),
    ("discrete", discrete_bic(6, 8, 400, 5005)),
):
    for kept in (MaxParents(1), MaxVWidth(1), MaxParents(3)):
        name = f"sges after complete, {kept}, {about}"
        add("forward", name, on(make, selective, kept, forward="complete"))
for word in ("poly", "order"):
    add(
        "forward",
        f"interleaved after {word}",
        on(bic(20, 50, 500, 5006), search, strategy="interleaved", forward=word),
    )
add(
    "forward",
    "turning after poly",
    on(bic(15, 35, 300, 5007), search, strategy="turning", forward="poly"),
)
add(
    "forward",
    "extended after order",
    on(bic(15, 35, 300, 5008), search, strategy="extended", forward="order"),
)

# A start: the class of another DAG, or of the true DAG with additional edges


def widened(n: int, edges: int, seed: int, more: int) -> PDAG:
    """Return the class of the true DAG with ``more`` additional edges."""
    arcs, rng = truth(n, edges, seed), np.random.default_rng([seed, 5])
    order = topological_order(PDAG.from_edges(n, arcs))
    absent = [(x, y) for i, x in enumerate(order) for y in order[i + 1 :] if (x, y) not in arcs]
    chosen = [absent[i] for i in order_of(len(absent), rng)[:more]]
    return dag_to_cpdag(PDAG.from_edges(n, [*arcs, *chosen]))


FAR, NEAR = cpdag_of(14, 40, 6100), widened(14, 24, 6001, 30)
START = bic(14, 24, 400, 6001)
for where, graph in (("far", FAR), ("near", NEAR)):
    add("start", f"bes, {where}", on(START, bes, graph))
    add("start", f"sbes, {where}", on(START, sbes, graph, MaxParents(2)))
    add("start", f"sbes, v-width 1, {where}", on(START, sbes, graph, MaxVWidth(1)))
    add("start", f"turning, {where}", on(START, turning, graph))
    add("start", f"fes, {where}", on(START, fes, graph))
    add("start", f"poly_fes, {where}", on(START, poly_fes, graph))
    add("start", f"interleaved, {where}", on(START, interleaved, start=graph))
    add("start", f"sges, {where}", on(START, selective, MaxClique(3), **with_start(graph)))
    extended = partial(search, strategy="extended", **with_start(graph))
    add("start", f"extended, {where}", on(START, extended))
add(
    "start",
    "bes from the complete graph, discrete",
    on(discrete_bic(6, 8, 1000, 6003), bes, PDAG.complete(6)),
)

for edges in (5, 8, 14):
    make = bic(9, edges, 500, 6010 + edges)
    complete = PDAG.complete(9)
    add("start", f"bes from the complete graph, {edges} edges", on(make, bes, complete))
    add(
        "start",
        f"sbes from the complete graph, {edges} edges",
        on(make, sbes, complete, MaxClique(2)),
    )
    add(
        "start",
        f"interleaved from the complete graph, {edges} edges",
        on(make, interleaved, start=complete),
    )

# Assumed properties

PROPERTIES = (
    MaxParents(1),
    MaxParents(3),
    MaxClique(2),
    MaxClique(3, tight=True),
    MaxVWidth(0),
    MaxVWidth(2),
    MaxTreewidth(2),
    MaxVStructures(2),
)
for kept in PROPERTIES:
    dense, sparse = bic(16, 36, 300, 7001), bic(40, 60, 300, 7002)
    add("property", f"sges, {kept}, dense", on(dense, selective, kept))
    add("property", f"sges after poly, {kept}, sparse", on(sparse, selective, kept, forward="poly"))
for kept in (MaxParents(2), MaxVWidth(1), MaxTreewidth(2)):
    make = bic(10, 18, 200, 7003)
    add("property", f"exact, {kept}", on(make, selective, kept, exact=True))
    add("property", f"drop_large, {kept}", on(make, selective, kept, drop_large=True))
    both = partial(selective, exact=True, drop_large=True, forward="poly")
    add("property", f"exact and drop_large after poly, {kept}", on(make, both, kept))
for word in ("interleaved", "extended", "turning"):
    add(
        "property",
        f"{word}, MaxParents 2",
        on(bic(18, 36, 300, 7014), search, MaxParents(2), strategy=word),
    )
add("property", "a user's own, degree", on(bic(9, 14, 200, 7005), selective, MaxDegree(3)))
add("property", "a user's own, forest", on(bic(9, 10, 200, 7006), selective, Forest()))
add(
    "property",
    "a user's own, interleaved",
    on(bic(9, 14, 200, 7007), search, MaxDegree(2), strategy="interleaved"),
)
add(
    "property",
    "MaxParents, discrete, after complete",
    on(discrete_bic(6, 7, 500, 7008), selective, MaxParents(2), forward="complete"),
)

# A bound that is chosen from the data

add("auto", "MaxParents, Gaussian", on(bic(16, 36, 300, 7101), auto_bound))
add("auto", "MaxParents after poly", on(bic(20, 40, 300, 7102), auto_bound, forward="poly"))
add("auto", "MaxVWidth, discrete", on(discrete_bic(10, 18, 800, 7103), auto_bound, MaxVWidth))
add(
    "auto",
    "MaxClique, interleaved",
    on(bic(14, 30, 200, 7104), auto_bound, MaxClique, strategy="interleaved"),
)
add("auto", "MaxParents, extended", on(bic(14, 30, 200, 7105), auto_bound, strategy="extended"))
add(
    "auto",
    "MaxParents, at most 2, turning",
    on(bic(14, 35, 400, 7106), auto_bound, max_bound=2, strategy="turning"),
)
add("auto", "from a graph", on(START, auto_bound, **with_start(FAR)))

# Background knowledge, true and false


def known(n: int, edges: int, seed: int, kind: str) -> Knowledge:
    """Return knowledge of one kind that holds in the true DAG with these parameters."""
    rng = np.random.default_rng([seed, 7])
    arcs = truth(n, edges, seed)
    order = topological_order(PDAG.from_edges(n, arcs))
    near = {frozenset(arc) for arc in arcs}
    some = [arc for arc in arcs if rng.random() < 0.3]
    against = [(y, x) for x, y in arcs if rng.random() < 0.5]
    apart = [
        (x, y)
        for x in range(n)
        for y in range(x)
        if frozenset((x, y)) not in near and rng.random() < 0.3
    ]
    tiers = [order[i : i + 4] for i in range(0, n, 4)]
    return {
        "tiers": Knowledge(tiers=tiers),
        "tiers of some": Knowledge(tiers=[tier[1:] for tier in tiers]),
        "required": Knowledge(required=some),
        "required and tiers": Knowledge(required=some, tiers=tiers),
        "forbidden one way": Knowledge(forbidden=against),
        "forbidden both ways": Knowledge(not_adjacent=apart),
        "everything": Knowledge(some, against, tiers, not_adjacent=apart),
    }[kind]


KINDS = (
    "tiers",
    "tiers of some",
    "required",
    "required and tiers",
    "forbidden one way",
    "forbidden both ways",
    "everything",
)
for kind in KINDS:
    make = bic(14, 24, 300, 8015)
    right = known(14, 24, 8015, kind).bind(14)
    wrong = known(14, 20, 8100, kind).bind(14)
    add("knowledge", f"ges, {kind}", on(make, ges, constraint=right))
    add("knowledge", f"ges, {kind}, not true", on(make, ges, constraint=wrong))
    add(
        "knowledge",
        f"sges after poly, {kind}, not true",
        on(make, selective, MaxParents(2), forward="poly", constraint=wrong),
    )
    add(
        "knowledge",
        f"extended, {kind}",
        on(make, search, strategy="extended", constraint=right),
    )
    add(
        "knowledge",
        f"interleaved, {kind}, not true",
        on(make, interleaved, constraint=wrong),
    )
for kind in ("tiers", "everything"):
    wrong = known(14, 20, 8100, kind).bind(14)
    add("knowledge", f"fes, {kind}", on(bic(14, 24, 300, 8002), fes, constraint=wrong))
    add("knowledge", f"poly_fes, {kind}", on(bic(14, 24, 300, 8002), poly_fes, constraint=wrong))
    add(
        "knowledge",
        f"sges after order, {kind}",
        on(bic(14, 24, 300, 8003), selective, forward="order", constraint=wrong),
    )
    add(
        "knowledge",
        f"turning, {kind}",
        on(bic(14, 24, 300, 8004), search, strategy="turning", constraint=wrong),
    )
    add(
        "knowledge",
        f"discrete, {kind}",
        on(discrete_bic(14, 24, 500, 8005), ges, constraint=wrong),
    )
add(
    "knowledge",
    "many columns in tiers",
    on(
        bic(80, 120, 400, 8006),
        ges,
        constraint=Knowledge(tiers=[range(v, v + 20) for v in range(0, 80, 20)]).bind(80),
    ),
)
for edges in (4, 7, 10):
    seed = 8020 + edges
    barring = Knowledge(not_adjacent=truth(8, edges, seed)[::2]).bind(8)
    make, complete = bic(8, edges, 300, seed), PDAG.complete(8)
    add(
        "knowledge",
        f"bes from a graph with forbidden edges, {edges} edges",
        on(make, bes, complete, constraint=barring),
    )
    add(
        "knowledge",
        f"sges from a graph with forbidden edges, {edges} edges",
        on(make, selective, MaxParents(2), forward="complete", constraint=barring),
    )
    add(
        "knowledge",
        f"interleaved from a graph with forbidden edges, {edges} edges",
        on(make, interleaved, start=complete, constraint=barring),
    )
BLOCKED = PDAG.from_edges(4, [(0, 2), (3, 2), (2, 1), (3, 1)])
add(
    "knowledge",
    "a forbidden edge in the way",
    on(
        partial(SeparationOracle, BLOCKED),
        ges,
        constraint=Knowledge(not_adjacent=[(0, 3)]).bind(4),
    ),
)
add(
    "knowledge",
    "required against independence, from the complete graph",
    on(
        bic(5, 0, 200, 8007, penalty=5.0),
        bes,
        PDAG.complete(5),
        constraint=Knowledge(required=[(0, 1), (1, 2), (3, 2)]).bind(5),
    ),
)

# Oracles


def network(n: int, edges: int, seed: int) -> BayesianNetwork:
    """Return a random network with two or three levels for each variable."""
    arcs, rng = truth(n, edges, seed), np.random.default_rng([seed, 3])
    arities = [2 + (rng.random() < 0.5) for _ in range(n)]
    return BayesianNetwork(PDAG.from_edges(n, arcs), conditional_tables(n, arcs, arities, rng))


for n, edges in ((4, 4), (6, 8), (8, 14)):
    about = f"{n} nodes, {edges} edges"
    dag = PDAG.from_edges(n, truth(n, edges, 9000 + n))
    separation = partial(SeparationOracle, dag)
    add("oracle", f"separation, ges, {about}", on(separation, ges))
    add("oracle", f"separation, turning, {about}", on(separation, search, strategy="turning"))
    add("oracle", f"separation, extended, {about}", on(separation, search, strategy="extended"))
    add(
        "oracle",
        f"separation, sges after complete, {about}",
        on(separation, selective, MaxParents.of(dag), forward="complete"),
    )
    population = of(GaussianOracle, partial(covariance, n, edges, 9100 + n), records=1e6)
    add("oracle", f"Gaussian, ges, {about}", on(population, ges))
    add("oracle", f"Gaussian, interleaved, {about}", on(population, interleaved))
    make = of(OracleMDL, partial(network, n, edges, 9200 + n), records=1e6)
    add("oracle", f"MDL, ges, {about}", on(make, ges))
    add("oracle", f"MDL, poly, {about}", on(make, selective, MaxVWidth(2), forward="poly"))
    for kind in ("required and tiers", "forbidden both ways"):
        truly = known(n, edges, 9000 + n, kind).bind(n)
        add("oracle", f"separation, ges, {kind}, {about}", on(separation, ges, constraint=truly))
add(
    "oracle",
    "Gaussian with as many records as usual, ges",
    on(of(GaussianOracle, partial(covariance, 7, 10, 9300)), ges),
)

# Custom scores, which have only ``local``

add("custom", "local only, ges", on(of(LocalOnly, bic(10, 18, 300, 9501)), ges))
add(
    "custom",
    "local only, extended",
    on(of(LocalOnly, bic(10, 18, 300, 9502)), search, strategy="extended"),
)
add("custom", "local only, discrete, ges", on(of(LocalOnly, discrete_bic(7, 9, 300, 9503)), ges))
add(
    "custom",
    "least squares, sges after poly",
    on(
        of(Regression, partial(gaussian, 9, 14, 200, 9504)),
        selective,
        MaxParents(2),
        forward="poly",
    ),
)
add(
    "custom",
    "least squares at 2 for each parameter, interleaved",
    on(of(Regression, partial(gaussian, 9, 14, 200, 9505), price=2.0), interleaved),
)
for seed in (1, 2, 3):
    make = partial(WholeNumbers, 7 + seed, seed)
    add("custom", f"whole numbers that tie, ges, {seed}", on(make, ges))
    add("custom", f"whole numbers that tie, interleaved, {seed}", on(make, interleaved))
    add(
        "custom",
        f"whole numbers that tie, sges after poly, {seed}",
        on(make, selective, MaxParents(2), forward="poly"),
    )
    add(
        "custom",
        f"whole numbers that tie, extended, {seed}",
        on(make, search, strategy="extended"),
    )
add("custom", "not score equivalent, ges", on(of(Lopsided, bic(9, 14, 300, 9506)), ges))

# The function learn

TABLE = partial(gaussian, 12, 20, 400, 9901)
add("learn", "as it comes, Gaussian", lambda: learn(TABLE(), penalty=1))
add("learn", "as it comes, discrete", lambda: learn(discrete(10, 14, 900, 9902), penalty=1))
add("learn", "as it comes, mixed", lambda: learn(mixed(10, 14, 500, 9903), penalty=1))
add("learn", "two-phase, BGe", lambda: learn(TABLE(), score="bge", strategy="two-phase", penalty=1))
add(
    "learn",
    "a bound chosen",
    lambda: learn(TABLE(), assume="auto", strategy="two-phase", penalty=1),
)
add(
    "learn",
    "penalty 2 and poly-FES",
    lambda: learn(TABLE(), penalty=2.0, forward="poly", assume=MaxParents(2)),
)
add(
    "learn",
    "knowledge by name",
    lambda: learn(
        discrete(10, 14, 900, 9904),
        strategy="interleaved",
        penalty=1,
        knowledge=Knowledge(required=[("c0", "c1")], tiers=[["c3", "c4"], ["c5", "c6"]]),
    ),
)
add(
    "learn",
    "from a graph",
    lambda: learn(TABLE(), strategy="interleaved", penalty=1, **with_start(cpdag_of(12, 30, 9905))),
)
add(
    "learn",
    "without counting",
    lambda: learn(TABLE(), strategy=Strategy(interleaved=True, counting=False), penalty=1),
)
add(
    "learn", "in no time", lambda: learn(TABLE(), strategy="interleaved", penalty=1, time_limit=0.0)
)
