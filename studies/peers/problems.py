"""The data themselves, made from a seed: tables and the DAGs that they were drawn from."""

import gzip
import re
import tempfile
import zlib
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sges.graph import PDAG
from sges.network import BayesianNetwork, read_bif
from studies.peers.contract import Edge, Table
from studies.peers.suite import Source, Spec

Floats = NDArray[np.float64]
LEVELS = re.compile(r"(?:type discrete \[.*?\] \{|^\s*\()([^{}()]*)[})]", re.MULTILINE)
"""Where a BIF file names levels: where it declares them, and before a row of probabilities."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """A table, and the DAG it was drawn from."""

    table: Table
    truth: PDAG


class NoNetworks(Exception):
    """The package that carries the reference networks is not there."""


def make_problem(spec: Spec, seed: int) -> Problem:
    """Return the data set of this description and seed, the same on every machine."""
    rng = np.random.default_rng([seed, zlib.crc32(spec.name.encode())])
    if spec.source == "network":
        return _sampled(_permuted(reference_network(spec.network), rng), spec.rows, rng)
    if spec.source == "cpt":
        return _sampled(random_tables(spec.d, spec.arity, rng), spec.rows, rng)
    edges = random_edges(spec.source, spec.d, spec.edges_per_node, rng)
    dag = PDAG.from_edges(spec.d, edges)
    values = linear_gaussian(dag, spec.rows, rng)
    return Problem(Table("gaussian", values, max_parents=_most_parents(dag)), dag)


def random_edges(
    source: Source, d: int, edges_per_node: int, rng: np.random.Generator
) -> list[Edge]:
    """Return the edges of a random DAG whose nodes are in a random order.

    Erdős–Rényi graphs have exactly d · edges_per_node edges, drawn from all pairs.  In scale-free
    ones (Barabási & Albert 1999) each node has that many parents among the earlier ones, drawn by
    how many edges these have already: hubs are common causes.
    """
    order = rng.permutation(d).tolist()
    if source == "er":
        pairs = d * (d - 1) // 2
        chosen = rng.choice(pairs, size=min(d * edges_per_node, pairs), replace=False)
        above, below = np.triu_indices(d, 1)
        return sorted((order[above[i]], order[below[i]]) for i in chosen.tolist())
    ends: list[int] = []  # every node once per edge it has
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
    """Return standardised records: weights ±[0.5, 2], noise of variance one."""
    from sges.graph.equivalence import topological_order
    from sges.nodeset import nodes

    values = np.empty((rows, dag.n))
    for y in topological_order(dag):
        parents = list(nodes(dag.parents(y)))
        weights = rng.uniform(0.5, 2.0, len(parents)) * rng.choice([-1.0, 1.0], len(parents))
        values[:, y] = values[:, parents] @ weights + rng.normal(size=rows)
    standard: Floats = (values - values.mean(axis=0)) / values.std(axis=0)
    return standard


def random_tables(d: int, arity: int, rng: np.random.Generator) -> BayesianNetwork:
    """Return a network with 0 to 3 parents each, Dirichlet(½) tables; arity 0 is 2 to 4 levels."""
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
    """Return a BIF file with levels such as <5 or Asy/Patch as words, which is all BIF allows.

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
    """Return the network with its variables in a random order: files list causes first."""
    place = rng.permutation(network.n).tolist()
    return network if network.n < 2 else _relabelled(network, place)


def _relabelled(network: BayesianNetwork, place: list[int]) -> BayesianNetwork:
    """Return the network with variable v as number place[v]."""
    from sges.nodeset import nodes

    cpts: list[Floats] = [np.empty(0)] * network.n
    for v, cpt in enumerate(network.cpts):
        parents = [place[p] for p in nodes(network.dag.parents(v))]
        cpts[place[v]] = cpt.transpose([*np.argsort(parents), len(parents)])
    edges = [(place[x], place[y]) for x, y in network.dag.directed_edges()]
    return BayesianNetwork(PDAG.from_edges(network.n, edges), cpts)


def _sampled(network: BayesianNetwork, rows: int, rng: np.random.Generator) -> Problem:
    """Draw records; levels that none of them has are dropped, as peers know only what they see."""
    codes = network.sample(rows, seed=rng).codes.astype(np.int64)
    columns = [np.unique(column, return_inverse=True) for column in codes]
    values = np.ascontiguousarray(np.column_stack([numbers for _, numbers in columns]))
    arities = tuple(len(levels) for levels, _ in columns)
    dag = PDAG.from_edges(network.n, network.dag.directed_edges())
    return Problem(Table("discrete", values, arities, _most_parents(dag)), dag)


def _most_parents(dag: PDAG) -> int:
    return max(dag.parents(v).bit_count() for v in range(dag.n))
