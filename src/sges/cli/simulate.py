"""``sges simulate``: a random network, and data sampled from it."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sges.cli.screen import AsJson, print_json, say
from sges.errors import InvalidArgument

if TYPE_CHECKING:
    from sges.data import Dataset
    from sges.graph import PDAG
    from sges.network import BayesianNetwork, LinearGaussian

MODELS = ("gaussian", "discrete")

Out = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", help="Where data.csv and truth.json go: both, or none.", show_default=False
    ),
]
Variables = Annotated[int, typer.Option(min=1, metavar="N", help="How many variables.")]
Edges = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="N", help="So many edges, anywhere; if nothing is said, one per variable."
    ),
]
Parents = Annotated[
    int | None,
    typer.Option(
        min=0, metavar="K", help="Instead: as in the paper, no variable with more than K parents."
    ),
]
Polytree = Annotated[
    bool, typer.Option("--polytree", metavar="", help="Instead: a tree, its edges directed.")
]
Model = Annotated[
    str, typer.Option(metavar="KIND", help="gaussian (linear) or discrete (random tables).")
]
Arity = Annotated[int, typer.Option(min=2, metavar="N", help="Levels of a discrete variable.")]
Example = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Instead of a random one, the network of an example: asia or greenhouse.",
    ),
]
Records = Annotated[int, typer.Option(min=2, metavar="N", help="How many records.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The same seed, the same files.")]


def simulate(
    *,
    out: Out,
    variables: Variables = 10,
    edges: Edges = None,
    max_parents: Parents = None,
    polytree: Polytree = False,
    model: Model = "gaussian",
    arity: Arity = 2,
    example: Example = None,
    records: Records = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Draw a random network and sample data from it.

    Writes the records as data.csv and the DAG behind them as truth.json, which sges compare and
    sges measure read.
    """
    from sges.export import to_json
    from sges.export.writing import write_directory

    if example is not None:
        network = _example(example)
    else:
        dag = _structure(variables, edges, max_parents, polytree, seed)
        network = _network(dag, model, arity, seed)
    dag = network.dag.named(network.names)
    files = {
        "data.csv": csv_of(network.sample(records, seed)).encode(),
        "truth.json": (to_json(dag) + "\n").encode(),
    }
    written = [str(path) for path in write_directory(out, files)]
    document = {
        "format": "sges-simulation",
        "version": 1,
        "files": written,
        "variables": dag.n,
        "edges": dag.edge_count(),
        "records": records,
        "seed": seed,
    }
    if as_json:
        print_json(document)
    else:
        say(f"{records} records of {dag.n} variables, {dag.edge_count()} edges: {_listed(written)}")


def _structure(
    variables: int, edges: int | None, max_parents: int | None, polytree: bool, seed: int
) -> "PDAG":
    from sges.network import random_dag, random_polytree, random_structure

    words = {"--edges": edges is not None, "--max-parents": max_parents is not None}
    given = [word for word, is_given in (words | {"--polytree": polytree}).items() if is_given]
    if len(given) > 1:
        raise InvalidArgument(
            f"{' and '.join(given)} were both given; the structure is drawn in one way"
        )
    if polytree:
        return random_polytree(variables, seed)
    if max_parents is not None:
        return random_structure(variables, max_parents, seed)
    most = variables * (variables - 1) // 2
    if edges is not None and edges > most:
        raise InvalidArgument(f"--edges {edges}: {variables} variables have room for {most}")
    return random_dag(variables, min(variables, most) if edges is None else edges, seed)


def _network(dag: "PDAG", model: str, arity: int, seed: int) -> "BayesianNetwork | LinearGaussian":
    from sges.network import BayesianNetwork, LinearGaussian

    if model not in MODELS:
        raise InvalidArgument(f"--model {model}: it is {' or '.join(MODELS)}")
    if model == "gaussian":
        return LinearGaussian.random(dag, seed=seed)
    return BayesianNetwork.random(dag, arity=arity, seed=seed)


def _example(name: str) -> "BayesianNetwork | LinearGaussian":
    from sges.examples import load

    return load(name).network


def csv_of(data: "Dataset") -> str:
    """Return a dataset as CSV: numbers as they are, levels by their labels."""
    import csv

    columns: dict[int, list[Any]] = {
        v: data.values[i].tolist() for i, v in enumerate(data.continuous)
    }
    for i, v in enumerate(data.discrete):
        labels = data.levels[v] or ()
        columns[v] = [labels[code] for code in data.codes[i].tolist()]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(data.names)
    writer.writerows(zip(*(columns[v] for v in range(data.n)), strict=True))
    return text.getvalue()


def _listed(paths: list[str]) -> str:
    return " and ".join(paths)
