"""The generative models of the experiments, and the comparison of a result with the truth.

    paper_model   the random binary networks of Section 5
    xor_star      two or more coins, and noisy parities of them: constructed to mislead FES
    sum_star      a few causes, and many noisy measurements of their sum: linear, and realistic

In both stars no two children are adjacent.  A child contains much information about the other
children and little about any one parent, so FES first inserts edges between the children, and only
then edges from the parents, which make the former superfluous: BES has to remove a clique.

Paper: Section 5, generative models.
"""

from collections.abc import Sequence

import numpy as np

from sges.graph import maximal_cliques
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.network import BayesianNetwork, LinearGaussian, random_structure
from sges.nodeset import nodes
from sges.score.protocol import Score, total_score
from studies.frame import seed_of


def paper_model(n: int, seed: int, trial: int, max_parents: int = 2) -> BayesianNetwork:
    """Return the random network of one trial.

    Paper: Section 5, generative models.
    """
    own = seed_of(seed, n, trial, max_parents)
    return BayesianNetwork.random(random_structure(n, max_parents, seed=own), seed=own)


def relabeled(network: BayesianNetwork, place: Sequence[int]) -> BayesianNetwork:
    """Return the network with variable v renumbered as place[v]."""
    cpts = [np.empty(0)] * network.n
    for v, cpt in enumerate(network.cpts):
        parents = [place[p] for p in nodes(network.dag.parents(v))]
        cpts[place[v]] = cpt.transpose([*np.argsort(parents), len(parents)])
    edges = [(place[x], place[y]) for x, y in network.dag.directed_edges()]
    return BayesianNetwork(PDAG.from_edges(network.n, edges), cpts)


def star(parents: int, children: int) -> PDAG:
    """Return the DAG with an edge from every parent to every child, and no other edges."""
    edges = ((p, parents + c) for p in range(parents) for c in range(children))
    return PDAG.from_edges(parents + children, edges)


def xor_star(coins: int, children: int, seed: int) -> BayesianNetwork:
    """Return nearly fair coins and children that are noisy parities of all of them.

    The noise (0.13 to 0.17) and the biases (0.02 to 0.04) vary: exactly fair coins would be
    independent of every child, and FES would never connect them.
    """
    rng = np.random.default_rng(seed)
    heads = 0.5 + rng.uniform(0.02, 0.04, coins) * rng.choice([-1, 1], coins)
    odd = np.indices((2,) * coins).sum(axis=0) % 2
    cpts = [np.array([1 - p, p]) for p in heads]
    for _ in range(children):
        noise = rng.uniform(0.13, 0.17, odd.shape)
        one = np.where(odd == 1, 1 - noise, noise)
        cpts.append(np.stack([1 - one, one], axis=-1))
    return BayesianNetwork(star(coins, children), cpts)


def sum_star(causes: int, children: int, seed: int) -> LinearGaussian:
    """Return independent causes and noisy measurements of their sum, as by several sensors.

    Weights lie in 0.97 to 1.03 (sensors calibrated to 3%) and noise variances in 0.24 to 0.36,
    where the causes have variance 1.  The more the weights vary, the sooner a child distinguishes
    the causes, and FES connects it with them before it is adjacent to all other children.
    """
    rng = np.random.default_rng(seed)
    n = causes + children
    weights = np.zeros((n, n))
    weights[:causes, causes:] = rng.uniform(0.97, 1.03, (causes, children))
    variances = np.concatenate([np.ones(causes), rng.uniform(0.24, 0.36, children)])
    return LinearGaussian(star(causes, children), weights, variances)


def undirected_clique(cpdag: PDAG) -> int:
    """Return the size of the largest clique of undirected edges."""
    rows = [cpdag.neighbors(v) for v in range(cpdag.n)]
    return max(clique.bit_count() for clique in maximal_cliques(rows, (1 << cpdag.n) - 1))


def weakest_edge(score: Score, dag: PDAG) -> float:
    """Return the smallest decrease of the score when one edge of the truth is removed.

    If it is negative, the score for this number of records prefers a graph without that edge.
    """
    losses = [
        score.local(y, dag.parents(y)) - score.local(y, dag.parents(y) & ~(1 << x))
        for x, y in dag.directed_edges()
    ]
    return min(losses, default=0.0)


def against_truth(score: Score, dag: PDAG, found: PDAG) -> dict[str, float]:
    """Return whether the true class was found, and how the two classes compare in score.

    ``gain`` is the score of the result minus that of the truth: positive if the truth is not the
    optimum, negative if the search stopped below it.
    """
    truth = dag_to_cpdag(dag)
    if found == truth:
        return {"recovered": 1, "gain": 0.0}
    return {"recovered": 0, "gain": total_score(score, found) - total_score(score, truth)}
