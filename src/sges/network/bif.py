"""Networks in BIF files, the format of the Bayesian network repositories.

Reading and writing is pyAgrum's, an optional library that is imported only here, on use.
pyAgrum reads probabilities in single precision, and files are often rounded to a few digits:
rows whose sum is within ``SUM_TOLERANCE`` of one are scaled to sum to one, others are refused.
"""

import os
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sges.errors import MissingLibrary, NetworkError
from sges.graph.pdag import PDAG
from sges.network.discrete import BayesianNetwork
from sges.nodeset import nodes

SUM_TOLERANCE = 0.01
"""How far the probabilities of a row in a file may differ from one in sum."""


def read_bif(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Return the network of a BIF file, with its names and the labels of its levels.

    Variables are numbered in the order in which the file declares them.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    BayesianNetwork
        The network.

    Raises
    ------
    MissingLibrary
        If pyAgrum is not installed.
    NetworkError
        If the file cannot be read, or is not a BIF file.
    """
    gum = _pyagrum()
    if not Path(path).is_file():
        raise NetworkError(f"{os.fspath(path)}: there is no such file")
    found = gum.BayesNet()
    try:
        found.loadBIF(os.fspath(path))
    except gum.GumException as error:
        raise NetworkError(f"{os.fspath(path)} is not a BIF file: {_line(error)}") from None
    variables = [found.variable(v) for v in sorted(found.nodes())]
    names = [v.name() for v in variables]
    number = {name: v for v, name in enumerate(names)}
    edges = [
        (number[found.variable(x).name()], number[found.variable(y).name()])
        for x, y in found.arcs()
    ]
    dag = PDAG.from_edges(len(names), edges, names=names)
    cpts = [_cpt(found.cpt(name), name, names) for name in names]
    return BayesianNetwork(dag, cpts, levels=[v.labels() for v in variables])


def write_bif(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to a BIF file.

    A file at the path is replaced, or left as it was if the network cannot be written.

    Parameters
    ----------
    network : BayesianNetwork
        The network.  BIF allows only letters, digits and underscores in names and levels.
    path : str or path
        The file.

    Raises
    ------
    MissingLibrary
        If pyAgrum is not installed.
    NetworkError
        If a name or level is not allowed in BIF.
    """
    gum = _pyagrum()
    target = Path(path)
    with tempfile.TemporaryDirectory(dir=target.parent) as beside:
        draft = Path(beside) / "network.bif"
        try:
            _as_gum(gum, network).saveBIF(str(draft))
        except gum.GumException as error:
            raise NetworkError(f"this network cannot be written as BIF: {_line(error)}") from None
        draft.replace(target)


def _pyagrum() -> Any:  # noqa: ANN401 (a module without types)
    try:
        return import_module("pyagrum")
    except ImportError:
        raise MissingLibrary(
            "BIF files are read and written by pyAgrum, which is not installed; "
            "install it with: pip install 'sges[bif]'"
        ) from None


def _cpt(tensor: Any, name: str, names: Sequence[str]) -> NDArray[np.float64]:  # noqa: ANN401
    """Return p(variable | parents) with the parents' axes in increasing order."""
    axes = [names.index(axis) for axis in reversed(tensor.names)]  # the variable itself is last
    order = [axes.index(v) for v in (*sorted(axes[:-1]), axes[-1])]
    cpt = np.asarray(tensor.toarray(), dtype=np.float64).transpose(order)
    sums = cpt.sum(axis=-1, keepdims=True)
    if not (np.abs(sums - 1) <= SUM_TOLERANCE).all():
        wrong = sums.flat[int(np.abs(sums - 1).argmax())]
        raise NetworkError(
            f"variable {name}: the probabilities given some levels of its parents add up to "
            f"{wrong:.6g}; they must add up to 1, within {SUM_TOLERANCE}"
        )
    scaled: NDArray[np.float64] = cpt / sums
    return scaled


def _as_gum(gum: Any, network: BayesianNetwork) -> Any:  # noqa: ANN401
    """Return the same network as pyAgrum's own."""
    made = gum.BayesNet("network")
    for name, labels in zip(network.names, network.levels, strict=True):
        made.add(gum.LabelizedVariable(name, name, [str(label) for label in labels]))
    for v, cpt in enumerate(network.cpts):
        # pyAgrum's first variable runs fastest, and arcs append: the last parent goes first.
        for parent in reversed(list(nodes(network.dag.parents(v)))):
            made.addArc(network.names[parent], network.names[v])
        made.cpt(network.names[v]).fillWith(cpt.ravel().tolist())
    return made


def _line(error: Exception) -> str:
    """Return a library's message as one line."""
    return " ".join(str(error).split())
