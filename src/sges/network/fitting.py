"""Estimate the parameters of a network with a given DAG from data."""

from math import prod
from typing import Any

import numpy as np

from sges.data import Dataset, Moments
from sges.data.completion import completed
from sges.data.dataset import as_dataset, selected
from sges.errors import DataError, Undecided, check_number
from sges.graph.equivalence import topological_order
from sges.graph.pdag import PDAG
from sges.network.base import columns_of
from sges.network.discrete import BayesianNetwork
from sges.network.gaussian import LinearGaussian
from sges.network.mixed import LEAST_SHARE, MixedNetwork, fit_mixed
from sges.nodeset import nodes

MAX_CELLS = 1 << 24  # cells of a table of conditional probabilities: 128 mebibytes


def fit(
    dag: PDAG,
    data: Any,  # noqa: ANN401 (any table for Dataset.of)
    smoothing: float = 1.0,
) -> BayesianNetwork | LinearGaussian | MixedNetwork:
    """Return the network with a given DAG whose parameters are estimated from data.

    Discrete columns give a ``BayesianNetwork``: relative frequencies, smoothed.  Continuous ones
    give a ``LinearGaussian`` by least squares, with maximum likelihood variances.  Columns of
    both kinds give a ``MixedNetwork``: a linear or logistic regression of each variable.

    Parameters
    ----------
    dag : PDAG
        The DAG, such as ``result.dag()``.  Columns are matched by name if it has names, and
        others are ignored.
    data : table, Dataset or Moments
        The data.
    smoothing : float, optional
        For discrete columns, the number of pseudo-records of each configuration of the parents,
        spread evenly over the levels of the variable.  In a ``MixedNetwork``, the precision of a
        normal prior of logistic slopes, per standard deviation of a column.

    Returns
    -------
    BayesianNetwork, LinearGaussian or MixedNetwork
        The fitted network.

    Raises
    ------
    NotADAG
        If the graph is not a DAG.
    DataError
        If the data do not fit the DAG, or make a variable a function of its parents.
    Undecided
        If a variable has too many parents for a table.

    Examples
    --------
    >>> chain = PDAG.from_edges(2, [(0, 1)], names=["a", "b"])
    >>> fit(chain, {"a": ["u", "u", "v", "v"], "b": ["p", "q", "q", "q"]}, smoothing=0).query("b=p")
    0.25
    """
    topological_order(dag)  # raises an error if it is not a DAG
    check_number("smoothing", smoothing)
    if isinstance(data, Moments):
        return _linear(dag, data)
    data = as_dataset(data, columns=dag.names)
    table = selected(data, columns_of(dag, data.names))
    if table.continuous and table.discrete:
        return fit_mixed(dag, table, smoothing)
    return _linear(dag, Moments.of(table)) if table.continuous else _discrete(dag, table, smoothing)


def _linear(dag: PDAG, moments: Moments) -> LinearGaussian:
    columns = columns_of(dag, moments.names)
    covariance = moments.covariance[np.ix_(columns, columns)]
    weights, variances = np.zeros((dag.n, dag.n)), np.diagonal(covariance).copy()
    scale = np.where(variances > 0, np.sqrt(variances), 1.0)
    for y in range(dag.n):
        if above := list(nodes(dag.parents(y))):
            # in units of their deviations: lstsq takes a parent of tiny variance for a constant
            unit, between = scale[above], covariance[above, y]
            block = covariance[np.ix_(above, above)] / unit[:, None] / unit
            slopes = np.linalg.lstsq(block, between / unit, rcond=None)[0] / unit
            weights[above, y] = slopes
            variances[y] -= slopes @ between
        if not variances[y] > LEAST_SHARE * covariance[y, y]:
            raise DataError(
                f"column {dag.name(y)!r} is constant, or an exact linear function of its parents"
            )
    named = dag.named([moments.names[i] for i in columns])
    return LinearGaussian(named, weights, variances, moments.mean[columns])


def _discrete(dag: PDAG, table: Dataset, smoothing: float) -> BayesianNetwork:
    table = completed(table)
    columns = columns_of(dag, table.names)
    levels = [table.levels[i] or () for i in columns]
    cpts = []
    for y in range(dag.n):
        family = [*nodes(dag.parents(y)), y]
        shape = [len(levels[v]) for v in family]
        if prod(shape) > MAX_CELLS:
            raise Undecided(
                f"the table of {dag.name(y)!r} given its {len(family) - 1} parents needs "
                f"{prod(shape):.3g} cells, more than {MAX_CELLS}"
            )
        codes = [table.codes[columns[v]].astype(np.intp) for v in family]
        cells = np.ravel_multi_index(codes, shape)
        counts = np.bincount(cells, table.weights, minlength=prod(shape)).reshape(shape)
        smoothed = counts * table.unit + smoothing / shape[-1]
        total = smoothed.sum(axis=-1, keepdims=True)
        unseen = total == 0  # without smoothing: all levels are equally likely
        cpts.append(np.where(unseen, 1 / shape[-1], smoothed / np.where(unseen, 1.0, total)))
    names = [table.names[i] for i in columns]
    return BayesianNetwork(dag.named(names), cpts, levels=levels)
