"""The data: families of problems, presets that take minutes or hours, and the tables.

The name of a problem contains all its parameters, so that the name and the seed identify a table in
the results.  A seed determines a table, and the DAG from which it is drawn.
"""

import gzip
import re
import tempfile
import zlib
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from sges.graph import PDAG
from sges.graph.equivalence import topological_order
from sges.network import BayesianNetwork, read_bif
from sges.nodeset import nodes
from studies.paper.models import relabeled
from studies.peers.contract import Edge, Kind, Table

Source: TypeAlias = Literal["er", "sf", "cpt", "network", "null"]
"""Erdős–Rényi or scale-free linear Gaussian, random tables, a reference network, or independent
columns: normal, or with levels of equal probability if an arity is given."""
SOURCES: tuple[Source, ...] = get_args(Source)
Flaw: TypeAlias = Literal["", "missing", "constant", "copied", "text"]
"""What programs find in a table: 1% of missing values, a constant column, a copy of a column, or
levels that are text."""


@dataclass(frozen=True, slots=True)
class Spec:
    """The parameters of a data set, without its seed."""

    source: Source
    d: int
    rows: int
    edges_per_node: int = 0
    network: str = ""
    arity: int = 0
    """The number of levels of all variables; 0 means 2 to 4, at random."""
    flaw: Flaw = ""

    @property
    def kind(self) -> Kind:
        """The kind of data."""
        continuous = self.source in ("er", "sf") or (self.source == "null" and not self.arity)
        return "gaussian" if continuous else "discrete"

    @property
    def name(self) -> str:
        """The name of the data set in rows and tables."""
        if self.flaw:
            return f"{replace(self, flaw='').name}-{self.flaw}"
        if self.source == "network":
            return f"{self.network}-m{self.rows}"
        if self.source in ("cpt", "null"):
            levels = f"-a{self.arity}" if self.arity else ""
            start = "discrete" if self.source == "cpt" else "null"
            return f"{start}{levels}-d{self.d}-m{self.rows}"
        return f"gaussian-{self.source}{self.edges_per_node}-d{self.d}-m{self.rows}"

    def no_harder_than(self, other: "Spec") -> bool:
        """Return whether a program that ran out of time here is not worth trying on the other.

        Both have the same kind of data, both or neither are reference networks, and this one has
        no more variables, edges per node, levels and rows.  A table with a flaw is compared with
        no other.
        """
        if self.flaw or other.flaw:
            return self == other
        if self.kind != other.kind or (self.source == "network") != (other.source == "network"):
            return False
        return (
            self.d <= other.d
            and self.edges_per_node <= other.edges_per_node
            and self.arity <= other.arity
            and self.rows <= other.rows
        )


@dataclass(frozen=True, slots=True)
class Preset:
    """Data sets, each with its number of seeds, and the seconds that a run may take."""

    name: str
    limit: float
    problems: tuple[tuple[Spec, int], ...]
    total: float = inf
    """Seconds after which a program is not tried on the other seeds of a data set."""

    def ordered(self) -> list[tuple[Spec, int]]:
        """Return each data set with its number of seeds: Gaussian ones first, each by size."""
        return sorted(self.problems, key=lambda p: (p[0].kind != "gaussian", _effort(p[0])))


NETWORKS = {
    "asia": 8,
    "sachs": 11,
    "child": 20,
    "insurance": 27,
    "alarm": 37,
    "hailfinder": 56,
    "hepar2": 70,
    "win95pts": 76,
    "andes": 223,
    "pigs": 441,
}
"""Reference networks and their numbers of variables; the wheel of pgmpy contains the files."""


def gaussian(
    source: Literal["er", "sf"], edges_per_node: int, rows: int, sizes: tuple[int, ...]
) -> list[Spec]:
    """Return linear Gaussian data sets of several sizes."""
    return [Spec(source, d, rows, edges_per_node) for d in sizes]


def discrete(rows: int, sizes: tuple[int, ...]) -> list[Spec]:
    """Return discrete data sets with random tables, 2 to 4 levels and at most three parents."""
    return [Spec("cpt", d, rows) for d in sizes]


def networks(*names: str, rows: int = 5_000) -> list[Spec]:
    """Return data sets sampled from reference networks."""
    return [Spec("network", NETWORKS[name], rows, network=name) for name in names]


def _effort(spec: Spec) -> tuple[int, ...]:
    return (
        spec.d,
        spec.edges_per_node,
        spec.rows,
        SOURCES.index(spec.source),
    )


def _times(seeds: int, *families: list[Spec]) -> tuple[tuple[Spec, int], ...]:
    return tuple((spec, seeds) for family in families for spec in family)


_QUICK = _times(
    1,
    gaussian("er", 2, 10_000, (10, 25, 50)),
    discrete(5_000, (10, 20)),
    networks("asia", "sachs", "child"),
)

_STANDARD = (
    *_times(
        3,
        gaussian("er", 2, 10_000, (25, 50, 100)),
        gaussian("er", 4, 10_000, (50,)),
        gaussian("sf", 2, 10_000, (50,)),
        gaussian("er", 2, 500, (50,)),
        discrete(5_000, (20, 50)),
    ),
    *_times(
        1,
        gaussian("er", 2, 10_000, (200, 500, 1000)),
        gaussian("er", 4, 10_000, (100, 200)),
        gaussian("sf", 2, 10_000, (200,)),
        gaussian("er", 2, 500, (200,)),
        discrete(5_000, (100, 200)),
        discrete(50_000, (50, 200)),
        networks("asia", "sachs", "child", "insurance", "alarm", "hailfinder", "win95pts"),
    ),
)

_SIZES = (25, 50, 100, 200, 500, 1000)

_FULL = (
    *_times(
        5,
        *(
            gaussian(source, edges, rows, _SIZES)
            for source in ("er", "sf")
            for edges in (2, 4)
            for rows in (500, 10_000)
        ),
        *(discrete(rows, (20, 50, 100, 200)) for rows in (5_000, 50_000)),
    ),
    *_times(3, networks(*NETWORKS)),
)

_QUALITY = _times(
    10,
    gaussian("er", 1, 10_000, (50,)),
    gaussian("er", 2, 1_000, (50,)),
    gaussian("er", 2, 10_000, (50, 100)),
    gaussian("er", 2, 100_000, (50,)),
    gaussian("er", 4, 10_000, (30,)),
    gaussian("sf", 2, 10_000, (50,)),
    discrete(1_000, (20,)),
    discrete(10_000, (30,)),
    discrete(100_000, (20,)),
    networks("insurance", "alarm"),
)

COLD = Spec("er", 10, 1_000, 2)
"""The table on which the study "why" measures how long a program takes from its start."""


def _why(
    sizes: tuple[int, ...], names: tuple[str, ...], null: tuple[int, int], seeds: int
) -> tuple[tuple[Spec, int], ...]:
    return _times(
        seeds,
        *(gaussian("er", 2, rows, sizes) for rows in (1_000, 10_000)),
        networks(*names),
        [Spec("null", null[0], 200), Spec("null", null[1], 200, arity=4)],
        [replace(COLD, flaw=flaw) for flaw in ("missing", "constant", "copied")],
        [Spec("cpt", 10, 1_000, flaw="text"), COLD],
    )


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset("quick", 10.0, _QUICK),
        Preset("standard", 60.0, _STANDARD),
        Preset("full", 600.0, _FULL),
        Preset("quality", 30.0, _QUALITY),
        Preset(
            "why", 15.0, _why((25, 50, 100), ("child", "insurance", "alarm"), (100, 20), 5), 15.0
        ),
        Preset("why-quick", 5.0, _why((12,), ("asia",), (12, 6), 1)),
    )
}

SPECS = {spec.name: spec for preset in PRESETS.values() for spec, _ in preset.problems}
"""Every data set of the presets by its name."""


# The tables.

Floats = NDArray[np.float64]
LEVELS = re.compile(r"(?:type discrete \[.*?\] \{|^\s*\()([^{}()]*)[})]", re.MULTILINE)
"""The levels in a BIF file: in their declaration, and before a row of probabilities."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A table, and the DAG it was drawn from."""

    table: Table
    truth: PDAG
    given: Table | None = None
    """The table as the programs see it, if it has a flaw; results are judged on the other."""


class NoNetworks(Exception):
    """The package that contains the reference networks is not installed."""


def make_problem(spec: Spec, seed: int) -> Problem:
    """Return the data set with these parameters and this seed, the same on every machine."""
    rng = np.random.default_rng([seed, zlib.crc32(spec.name.encode())])
    if spec.flaw:
        whole = make_problem(replace(spec, flaw=""), seed)
        return replace(whole, given=flawed(whole.table, spec.flaw, rng))
    if spec.source == "null":
        size, none = (spec.rows, spec.d), PDAG.from_edges(spec.d)
        if not spec.arity:
            return Problem(Table("gaussian", rng.normal(size=size)), none)
        levels = rng.integers(spec.arity, size=size)
        return Problem(Table("discrete", levels, (spec.arity,) * spec.d), none)
    if spec.source == "network":
        return _sampled(_permuted(reference_network(spec.network), rng), spec.rows, rng)
    if spec.source == "cpt":
        return _sampled(random_tables(spec.d, spec.arity, rng), spec.rows, rng)
    edges = random_edges(spec.source, spec.d, spec.edges_per_node, rng)
    dag = PDAG.from_edges(spec.d, edges)
    values = linear_gaussian(dag, spec.rows, rng)
    return Problem(Table("gaussian", values, max_parents=_most_parents(dag)), dag)


def flawed(table: Table, flaw: Flaw, rng: np.random.Generator) -> Table:
    """Return the table with a flaw."""
    if flaw == "text":
        return replace(table, values=np.char.add("level ", table.values.astype(str)))
    values = table.values.astype(np.float64)
    if flaw == "missing":
        values[rng.random(values.shape) < 0.01] = np.nan
    else:
        values[:, 0] = 1.0 if flaw == "constant" else values[:, 1]
    return replace(table, values=values)


def random_edges(
    source: Source, d: int, edges_per_node: int, rng: np.random.Generator
) -> list[Edge]:
    """Return the edges of a random DAG whose nodes are in a random order.

    Erdős–Rényi graphs have d · edges_per_node edges, or all pairs if these are fewer.  Scale-free
    graphs (Barabási & Albert 1999) have edges_per_node parents for each node, drawn from earlier
    nodes with probability proportional to their degree, so that hubs are common causes.
    """
    order = rng.permutation(d).tolist()
    if source == "er":
        pairs = d * (d - 1) // 2
        chosen = rng.choice(pairs, size=min(d * edges_per_node, pairs), replace=False)
        above, below = np.triu_indices(d, 1)
        return sorted((order[above[i]], order[below[i]]) for i in chosen.tolist())
    ends: list[int] = []  # each node once for each of its edges
    edges: list[Edge] = []
    for place in range(1, d):
        count = min(place, edges_per_node)
        parents: set[int] = set(range(place)) if count == place else set()
        while len(parents) < count:
            parents.add(ends[int(rng.integers(len(ends)))])
        edges += [(order[x], order[place]) for x in sorted(parents)]
        ends += [*sorted(parents), *[place] * count]
    return sorted(edges)


def linear_gaussian(dag: PDAG, rows: int, rng: np.random.Generator) -> Floats:
    """Return standardized records: weights ±[0.5, 2], noise of variance one."""
    values = np.empty((rows, dag.n))
    for y in topological_order(dag):
        parents = list(nodes(dag.parents(y)))
        weights = rng.uniform(0.5, 2.0, len(parents)) * rng.choice([-1.0, 1.0], len(parents))
        values[:, y] = values[:, parents] @ weights + rng.normal(size=rows)
    standard: Floats = (values - values.mean(axis=0)) / values.std(axis=0)
    return standard


def random_tables(d: int, arity: int, rng: np.random.Generator) -> BayesianNetwork:
    """Return a network of 0 to 3 parents each, Dirichlet(½) tables; arity 0 means 2 to 4 levels."""
    order = rng.permutation(d).tolist()
    edges = []
    for place in range(1, d):
        count = min(place, int(rng.integers(0, 4)))
        chosen = rng.choice(place, size=count, replace=False).tolist()
        edges += [(order[x], order[place]) for x in chosen]
    arities = [arity] * d if arity else rng.integers(2, 5, size=d).tolist()
    return BayesianNetwork.random(PDAG.from_edges(d, edges), arities, seed=rng)


def reference_network(name: str) -> BayesianNetwork:
    """Return a reference network, from the files in the wheel of pgmpy."""
    package = find_spec("pgmpy")
    if package is None or not package.submodule_search_locations:
        raise NoNetworks("the reference networks are in the wheel of pgmpy; pip install pgmpy")
    home = Path(package.submodule_search_locations[0]) / "utils" / "example_models"
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / f"{name}.bif"
        text = gzip.decompress((home / f"{name}.bif.gz").read_bytes()).decode()
        unpacked.write_text(with_plain_levels(text), encoding="utf-8")
        return read_bif(unpacked)


def with_plain_levels(bif: str) -> str:
    """Return a BIF file with levels such as <5 or Asy/Patch replaced by words, as BIF requires.

    >>> with_plain_levels("type discrete [ 2 ] { <5, old };")
    'type discrete [ 2 ] { v_3c_5, old };'
    """

    def word(level: re.Match[str]) -> str:
        if re.fullmatch(r"\w+", level[0]):
            return level[0]
        return "v" + re.sub(r"\W", lambda sign: f"_{ord(sign[0]):x}_", level[0])

    def named(levels: re.Match[str]) -> str:
        return levels[0].replace(levels[1], re.sub(r"[^\s,]+", word, levels[1]))

    return LEVELS.sub(named, bif)


def _permuted(network: BayesianNetwork, rng: np.random.Generator) -> BayesianNetwork:
    """Return the network with its variables in random order, as the files list causes first."""
    place = rng.permutation(network.n).tolist()
    return network if network.n < 2 else relabeled(network, place)


def _sampled(network: BayesianNetwork, rows: int, rng: np.random.Generator) -> Problem:
    """Draw records; levels that do not occur are dropped, as peers see only the table."""
    codes = network.sample(rows, seed=rng).codes.astype(np.int64)
    columns = [np.unique(column, return_inverse=True) for column in codes]
    values = np.ascontiguousarray(np.column_stack([numbers for _, numbers in columns]))
    arities = tuple(len(levels) for levels, _ in columns)
    dag = PDAG.from_edges(network.n, network.dag.directed_edges())
    return Problem(Table("discrete", values, arities, _most_parents(dag)), dag)


def _most_parents(dag: PDAG) -> int:
    return max(dag.parents(v).bit_count() for v in range(dag.n))
