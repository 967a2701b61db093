"""Wrong types for every argument of every public function give a one-line error or a result.

Every public function, class and method has a valid call, or is listed as internal with the reason.
Each argument in turn is replaced by values of other types.  The call may still work, as some
functions accept many types; otherwise it raises an ``SgesError`` with a one-line message.
"""

import inspect
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas  # type: ignore[import-untyped]
import pytest

import sges
from public import public_methods, public_names
from sges import PDAG, Dataset, Knowledge, MaxParents, examples, export, score
from sges.data import Counts, Moments
from sges.data import inspect as inspect_table
from sges.data.reading import ReadingOptions
from sges.effects import effect, effect_over
from sges.errors import MissingLibrary, SgesError
from sges.network import LinearGaussian, fit
from sges.operators import Delete, Insert, Turn
from sges.search.run import Selection

TABLE = {"a": [0.5, 1.5, 2.0, 4.0, 3.0], "b": [1.0, 0.0, 2.5, 3.5, 1.5]}
ROWS = np.array([*TABLE.values()]).T
PAIR = PDAG.from_edges(2, [], [(0, 1)], names=["a", "b"])
PAIR_DAG = PDAG.from_edges(2, [(0, 1)], names=["a", "b"])
MIXED = {"a": ["u", "u", "v", "v", "v"], "b": TABLE["b"]}
DAG = PDAG.from_edges(3, [(0, 1), (1, 2)], names=["a", "b", "c"])
WORDS = {name: ["u", "v", "u", "v", "v"] for name in "abc"}
FRAME = pandas.DataFrame({**TABLE, "c": TABLE["a"]})
COLLIDER = PDAG.from_edges(3, [(0, 1), (2, 1)], names=["a", "b", "c"])
NAMED = {"required": [("a", "b")]}


class Odd:
    """An object of an unknown type."""

    def __repr__(self) -> str:
        return "an odd\nobject"


WRONG: dict[str, Any] = {
    "None": None,
    "an object": Odd(),
    "a negative number": -7,
    "a fraction": 2.5,
    "not a number": float("nan"),
    "a large number": 10**30,
    "a number that Python does not write": 10**5000,
    "a negative number that Python does not write": -(10**5000),
    "a list of such a number": [10**5000],
    "a mapping of such a number": {10**5000: 10**5000},
    "a word": "nonsense",
    "bytes": b"\xff\x00",
    "an empty list": [],
    "a list": [1, "a", None],
    "an empty mapping": {},
    "a mapping": {"x": Odd()},
    "a class": MaxParents,
    "a function": len,
    "an array": np.zeros((2, 2, 2)),
    "True": True,
}


@cache
def data() -> Dataset:
    return Dataset.of(TABLE)


@cache
def longer() -> Dataset:
    return Dataset.of(np.random.default_rng(0).normal(size=(40, 2)), names=["a", "b"])


@cache
def discrete() -> Dataset:
    return Dataset.of({"a": [0, 1, 0, 1, 1], "b": [0, 1, 1, 1, 0]}, kinds="discrete")


@cache
def result() -> sges.Result:
    return sges.learn(TABLE)


@cache
def objects() -> dict[str, Any]:
    """Return an object of each public class whose methods are called."""
    return {
        "sges.PDAG": DAG,
        "sges.BayesianNetwork": examples.asia(),
        "sges.Confidence": sges.confidence(TABLE, 2),
        "sges.Knowledge": Knowledge.of(NAMED),
        "sges.Result": result(),
        "sges.GES": sges.GES(),
        "sges.EdgeConfidence": sges.EdgeConfidence(n_resamples=2),
        "sges.data.Counts": Counts.of(discrete()),
        "sges.data.Description": inspect_table(TABLE),
        "sges.data.Moments": Moments.of(data()),
        "sges.effects.LinearEffect": effect(PAIR, "a", "b", data()),
        "sges.effects.ReplicatedEffect": effect_over([PAIR], "a", "b", data()),
        "sges.network.MixedNetwork": fit(PAIR_DAG, MIXED),
        "sges.network.LinearGaussian": LinearGaussian.random(DAG, seed=0),
        "sges.operators.Delete": Delete(0, 1),
        "sges.operators.Insert": Insert(0, 1),
        "sges.operators.Turn": Turn(0, 1),
        "sges.score.BGe": score.BGe(data()),
        "sges.score.BasisBIC": score.BasisBIC(longer()),
        "sges.score.DegenerateGaussian": score.DegenerateGaussian(longer()),
        "sges.score.GaussianBIC": score.GaussianBIC(data()),
        **{f"sges.{kind.__name__}": kind(2) for kind in BOUNDS},
    }


BOUNDS = (
    sges.MaxParents, sges.MaxClique, sges.MaxTreewidth, sges.MaxVStructures, sges.MaxVWidth,
)  # fmt: skip


@cache
def calls() -> dict[str, dict[str, Any]]:
    """Return the arguments of valid calls by public name; other arguments have their defaults."""
    oracle, two, net = score.SeparationOracle(DAG), MaxParents(2), examples.asia()
    confidence = objects()["sges.Confidence"]
    graph, classes = {"graph": DAG}, {"cpdag": PAIR}
    node, pair = {"node": "a"}, {"a": "a", "b": "b"}
    searched, causal = {"score": oracle}, {"graph": PAIR, "data": data()}
    table: dict[str, Any] = {"path": str(examples.load("asia").path)}
    files: dict[str, Any] = {"result": result(), "directory": "out"}
    return {
        # Learning
        "sges.learn": {"table": TABLE},
        "sges.confidence": {"table": TABLE, "replicates": 2},
        "sges.GES": {},
        "sges.SGES": {"assume": two},
        "sges.StructureLearner": {},
        "sges.GES.fit": {"X": ROWS},
        "sges.EdgeConfidence": {"n_resamples": 2, "random_state": 0},
        "sges.EdgeConfidence.fit": {"X": ROWS},
        "sges.Strategy": {"extended": True},
        "sges.Knowledge": {},
        "sges.Knowledge.of": {"value": NAMED},
        "sges.Knowledge.from_dict": {"record": NAMED},
        "sges.Knowledge.from_file": {"path": "known.json"},
        "sges.Knowledge.bind": {"names": ["a", "b"]},
        "sges.penalty.choose_penalty": {
            "data": longer(), "candidates": [1.0], "method": "held-out", "parts": 2,
        },
        "sges.penalty.rule_of_thumb": {"data": data()},
        "sges.penalty.extended_bic": {"variables": 2, "records": 9},
        # Tables
        "sges.Dataset.of": {"table": TABLE},
        "sges.data.Moments.of": {"dataset": data()},
        "sges.data.Moments.merge": {"other": Moments.of(data())},
        "sges.data.Counts.of": {"dataset": discrete()},
        "sges.data.Counts.merge": {"other": Counts.of(discrete())},
        "sges.inspect": {"table": TABLE},
        "sges.data.glance": {"data": data()},
        "sges.data.Description.text": {},
        "sges.data.discrete_of_file": table,
        "sges.data.moments_of_file": {"path": "table.csv"},
        "sges.data.Reading": {},
        "sges.examples.load": {"name": "asia"},
        # Searches
        "sges.search.ges": searched,
        "sges.search.sges": {**searched, "assume": two},
        "sges.search.fes": searched,
        "sges.search.poly_fes": searched,
        "sges.search.low_order": searched,
        "sges.search.interleaved": searched,
        "sges.search.search": searched,
        "sges.search.bes": {**searched, "start": DAG},
        "sges.search.turning": {**searched, "start": DAG},
        "sges.search.sbes": {**searched, "start": DAG, "assume": two},
        "sges.search.order_bound": {"n": 3},
        "sges.search.poly_fes_bound": {"n": 3},
        "sges.search.sbes_bound": {"n": 3, "selection": Selection(two)},
        "sges.baselines.chow_liu": searched,
        "sges.baselines.exact": searched,
        "sges.certificate.certify": {"cpdag": PAIR, "score": score.GaussianBIC(data())},
        "sges.certificate.tie_tolerance": {"total": -5.0},
        # Scores
        "sges.score.GaussianBIC": {"data": data()},
        "sges.score.GaussianBIC.from_covariance": {"covariance": np.eye(2), "records": 9},
        "sges.score.GaussianBIC.permuted": {"order": [1, 0]},
        "sges.score.BGe": {"data": data()},
        "sges.score.BGe.permuted": {"order": [1, 0]},
        "sges.score.BasisBIC": {"data": longer()},
        "sges.score.BasisBIC.permuted": {"order": [1, 0]},
        "sges.score.RankBIC": {"data": data()},
        "sges.score.DiscreteBIC": {"data": discrete()},
        "sges.score.QNML": {"data": discrete()},
        "sges.score.BDeu": {"data": discrete()},
        "sges.score.DegenerateGaussian": {"data": data()},
        "sges.score.DegenerateGaussian.permuted": {"order": [1, 0]},
        "sges.score.SeparationOracle": {"dag": DAG},
        "sges.score.GaussianOracle": {"model": LinearGaussian.random(DAG, seed=0)},
        "sges.score.OracleMDL": {"network": net},
        "sges.score.CountingScore": searched,
        "sges.score.EdgePrior": searched,
        "sges.score.check_score": searched,
        "sges.score.total_score": {**searched, **graph},
        # Properties
        **{f"sges.{kind.__name__}": {"k": 2} for kind in BOUNDS},
        **{f"sges.{kind.__name__}.measure_dag": {"dag": DAG} for kind in BOUNDS},
        **{f"sges.MaxClique.{name}": graph for name in ("of", "holds", "measure")},
        "sges.properties.check_property": {"prop": two},
        # Graphs
        "sges.PDAG": {"out": DAG.out, "into": DAG.into},
        "sges.PDAG.from_edges": {"n": 3, "directed": [(0, 1)], "undirected": [(1, 2)]},
        "sges.PDAG.empty": {"n": 3},
        "sges.PDAG.complete": {"n": 3},
        **{
            f"sges.PDAG.{name}": {"y": 1}
            for name in ("parents", "children", "neighbors", "adjacent", "markov_blanket")
        },
        "sges.PDAG.na": {"y": 1, "x": 0},
        "sges.PDAG.descendants": {"of": 0},
        "sges.PDAG.ancestors": {"of": 0},
        "sges.PDAG.has_edge": {"a": 0, "b": 1},
        "sges.PDAG.chain_component": {"v": 0},
        "sges.PDAG.induced": {"kept": [0, 1]},
        "sges.PDAG.relabel": {"new": [2, 1, 0]},
        "sges.PDAG.named": {"names": ["x", "y", "z"]},
        "sges.PDAG.name": {"v": 0},
        "sges.PDAG.node": {"node": "a"},
        "sges.PDAG.names_of": {"s": 0b11},
        "sges.PDAG.show": {"s": 0b11},
        "sges.PDAG.plot": {"dpi": 20},
        **{f"sges.PDAG.to_{name}": {} for name in ("igraph", "networkx", "numpy", "pgmpy")},
        **{
            f"sges.PDAG.to_{name}": {"path": "graph.txt"}
            for name in ("bnlearn", "csv", "dagitty", "dot", "gml", "graphml", "lavaan")
        },
        "sges.PDAG.to_dowhy": {"data": FRAME, "treatment": "a", "outcome": "b"},
        "sges.PDAG.to_pyagrum": {"fit": WORDS},
        **{
            f"sges.graph.{name}": {argument: DAG}
            for name, argument in (
                ("class_size", "graph"), ("members", "graph"), ("is_cpdag", "graph"),
                ("is_dag", "graph"), ("covered_edges", "dag"), ("dag_to_cpdag", "dag"),
                ("topological_order", "dag"), ("moral_graph", "dag"), ("extensions", "pdag"),
                ("maximally_oriented", "pdag"), ("pdag_to_dag", "pdag"), ("pdag_to_cpdag", "pdag"),
            )
        },
        "sges.graph.sample_members": {"graph": DAG, "k": 1},
        "sges.graph.is_imap": {"candidate": DAG, "truth": DAG},
        "sges.graph.d_separated": {"dag": DAG, "x": 0, "y": 2, "given": [1]},
        "sges.graph.treewidth": {"adjacent": (0b10, 0b101, 0b10)},
        # Operators
        **{f"sges.operators.{kind}": {"x": 0, "y": 1} for kind in ("Insert", "Delete", "Turn")},
        **{f"sges.operators.all_{kind}s": classes for kind in ("insert", "delete", "turn")},
        **{
            f"sges.operators.{kind}": {**classes, "x": 0, "y": 1}
            for kind in ("inserts", "deletes", "turns")
        },
        **{f"sges.operators.Delete.{name}": classes for name in ("problem", "is_valid", "apply")},
        "sges.operators.Delete.delta": {**classes, "score": score.GaussianBIC(data())},
        "sges.selective.consistency_set": {"after": PDAG.empty(2), "x": 0, "y": 1},
        "sges.selective.is_consistent": {**classes, "delete": Delete(0, 1), "property": two},
        "sges.selective.selective_deletes": {**classes, "x": 0, "y": 1, "assume": two},
        "sges.selective.selective_generate_ops": {**classes, "x": 0, "y": 1, "s": 1},
        "sges.selective.size_limited_ops": {**classes, "x": 0, "y": 1, "size": 1},
        # Networks
        "sges.BayesianNetwork": {"dag": PDAG.empty(1), "cpts": [np.array([0.5, 0.5])]},
        "sges.BayesianNetwork.random": {"dag": DAG},
        "sges.BayesianNetwork.sample": {"m": 3},
        "sges.BayesianNetwork.marginal": {"variables": [0, 1]},
        "sges.BayesianNetwork.query": {"what": "lung"},
        "sges.BayesianNetwork.log_probability": {"rows": net.sample(3, seed=0)},
        "sges.network.LinearGaussian": {
            "dag": PDAG.from_edges(2, [(0, 1)]), "weights": np.array([[0, 0.5], [0, 0]]),
            "variances": np.ones(2),
        },
        "sges.network.LinearGaussian.random": {"dag": DAG},
        "sges.network.LinearGaussian.query": {"what": "a"},
        "sges.network.LinearGaussian.log_probability": {"rows": np.zeros((2, 3))},
        "sges.network.fit": {"dag": PAIR_DAG, "data": data()},
        "sges.network.MixedNetwork.expect": {"what": "a"},
        "sges.network.MixedNetwork.log_probability": {"rows": MIXED},
        "sges.network.random_dag": {"n": 3, "edges": 2},
        "sges.network.random_polytree": {"n": 3},
        "sges.network.random_structure": {"n": 3},
        "sges.network.read_bif": {"path": "asia.bif"},
        "sges.network.write_bif": {"network": net, "path": "out.bif"},
        # Effects
        "sges.effects.effect": {**causal, "treatment": "a", "outcome": "b"},
        "sges.effects.effects_of": {**causal, "treatment": "a"},
        "sges.effects.effects_on": {**causal, "outcome": "a"},
        "sges.effects.joint_effect": {**causal, "treatments": ["a"], "outcome": "b"},
        "sges.effects.multiplicities": {"graph": PAIR, "x": 0},
        "sges.effects.possible_parents": {"graph": PAIR, "x": 0},
        "sges.effects.effect_over": {
            "graphs": [PAIR], "treatment": "a", "outcome": "b", "data": data(),
        },
        "sges.effects.LinearEffect.interval": {},
        "sges.effects.ReplicatedEffect.interval": {},
        # Results
        "sges.read_result": {"path": "result.json"},
        **{
            f"sges.Result.{name}": node
            for name in ("parents", "children", "neighbors", "adjacent", "markov_blanket",
                         "ancestors", "descendants")
        },
        "sges.Result.has_edge": pair,
        "sges.Result.explain": pair,
        "sges.Result.certify": {},
        "sges.Result.class_size": {},
        "sges.Result.sample_members": {"k": 1},
        "sges.Result.confidence": {"replicates": 2},
        "sges.Result.effect": {"treatment": "a", "outcome": "b", "data": data()},
        "sges.Result.effects": {"on": "b", "data": data()},
        "sges.Result.fit": {"data": data()},
        "sges.Result.save": {"directory": "out"},
        "sges.Result.report": {"path": "report.html"},
        "sges.Result.summary": {},
        "sges.Result.from_dict": {"record": result().to_dict()},
        "sges.Result.from_json": {"text": result().to_json()},
        "sges.Result.to_json": {},
        "sges.compare": {"truth": DAG, "found": DAG},
        "sges.metrics.shd": {"truth": DAG, "found": DAG},
        "sges.metrics.adjustment_distances": {"truth": DAG, "found": DAG},
        "sges.metrics.agreement": {"right": {(0, 1)}, "found": {(0, 1)}},
        "sges.metrics.skeleton": graph,
        "sges.Confidence.strength": pair,
        "sges.Confidence.averaged": {},
        "sges.Confidence.effect": {"treatment": "a", "outcome": "b", "data": data()},
        "sges.Confidence.summary": {},
        "sges.Confidence.plot": {},
        "sges.Confidence.plot_curve": {},
        "sges.Confidence.save": {"directory": "confident"},
        "sges.Confidence.to_json": {},
        "sges.Confidence.from_dict": {"record": confidence.to_dict()},
        "sges.Confidence.from_json": {"text": confidence.to_json()},
        "sges.resampling.significance_threshold": {"strengths": [0.5, 1.0], "pairs": 3},
        # Reports, pictures and files
        "sges.report.explain": {"result": result(), "a": 0, "b": 1},
        "sges.report.files_of": files,
        "sges.report.save": files,
        "sges.report.report_page": {"result": result()},
        "sges.report.result_html": {"result": result()},
        "sges.report.summary": {"result": result()},
        "sges.report.write_report": {"result": result(), "path": "report.html"},
        "sges.report.graph_html": {"graph": DAG, "text": "text"},
        "sges.report.description_html": {"description": inspect_table(TABLE)},
        "sges.report.preformatted": {"text": "text"},
        "sges.plot.draw": {"graph": DAG, "dpi": 20, "engine": "own"},
        "sges.plot.picture": {"graph": DAG, "kind": "svg", "dpi": 20, "engine": "own"},
        "sges.plot.draw_steps": {"points": [(0.0, 1.0), (1.0, 0.0)]},
        "sges.plot.layout_of": {"graph": PAIR, "sizes": [(1.0, 1.0)] * 2},
        "sges.read_graph": {"path": "graph.json"},
        "sges.export.write_graph": {"graph": DAG, "path": "out.json"},
        **{
            f"sges.export.{name}": graph
            for name in ("to_json", "to_csv", "to_adjacency_csv", "to_graphml", "to_gml", "to_dot",
                         "to_numpy", "to_networkx", "to_igraph", "to_pgmpy", "to_causallearn",
                         "to_dagitty", "to_bnlearn", "to_lavaan", "edge_frame", "adjacency_frame")
        },
        "sges.export.to_dowhy": {**graph, "data": FRAME, "treatment": "a", "outcome": "b"},
        "sges.export.to_pyagrum": {**graph, "fit": WORDS},
        **{
            f"sges.export.from_{name}": {"text": getattr(export, f"to_{name}")(DAG)}
            for name in ("json", "csv", "graphml", "gml", "dot")
        },
        "sges.export.from_networkx": {"graph": networkx.DiGraph([("a", "b")])},
        "sges.export.from_numpy": {"matrix": np.zeros((2, 2)), "convention": "row-to-column"},
        "sges.export.from_edge_frame": {"frame": export.edge_frame(DAG)},
        "sges.export.from_adjacency_frame": {"frame": export.adjacency_frame(DAG)},
    }  # fmt: skip


BASES = {
    "sges.operators.Operator": "the base of the operators",
    "sges.properties.AtMost": "the base of the properties",
    "sges.knowledge.IndexedKnowledge": "knowledge as searches ask it",
}
"""Base classes, which users do not construct; their methods are not called here."""

INTERNAL = {
    "sges.cli.main": "takes the words of a command line",
    # Parts of a search, which are called millions of times.
    **dict.fromkeys(
        (f"sges.nodeset.{name}" for name in (
            "Rows", "as_node", "as_nodeset", "by_size_then_nodes", "components", "first", "nodes",
            "nodeset", "reach", "show", "subsets", "union")),
        "operations on the bits of integers",
    ),
    **dict.fromkeys(
        (f"sges.{name}" for name in (
            "graph.close_under_meek", "graph.complete_locally", "graph.direct_in_turn",
            "graph.maximal_cliques", "graph.maximum_cardinality_search",
            "selective.filter_cliques")),
        "a step of an algorithm, on sets of nodes that the caller has checked",
    ),
    "sges.score.insert_gains": "asks a score",
    "sges.score.delete_gains": "asks a score",
    # Values that functions return.
    **dict.fromkeys(
        (f"sges.{name}" for name in (
            "Dataset", "Confidence", "Result", "certificate.Certificate", "data.Counts",
            "data.ColumnFacts", "data.Description", "data.Finding",
            "data.Moments", "effects.DiscreteEffect", "effects.JointEffect", "effects.LinearEffect",
            "effects.ReplicatedEffect", "network.MixedNetwork",
            "examples.Example", "graph.Between",
            "metrics.AdjustmentDistances", "metrics.Agreement", "metrics.Comparison",
            "network.Normal", "penalty.Candidate", "penalty.CriterionResult",
            "penalty.PenaltyChoice", "plot.Box", "plot.Curve", "plot.EdgeStyle", "plot.Layout",
            "report.Event", "report.Explanation", "resampling.Averaged",
            "resampling.ReplicateProgress", "result.LearnedEdge", "result.Step",
            "search.Progress")),
        "a value that functions return",
    ),
    **BASES,
}  # fmt: skip
"""Public names that do not check their arguments, with the reason."""

INTERNAL_METHODS = {
    "local": "a score is asked by searches",
    "insert_gains": "a score is asked by searches",
    "delete_gains": "a score is asked by searches",
    **dict.fromkeys(
        ("precondition", "changes", "gain", "edit", "carry_out", "path_is_free"),
        "a step of ``apply`` or ``delta``",
    ),
    "is_clique": "a step of ``Operator.problem``",
    "edited": "says that it trusts its arguments",
    "ahead": "compares candidates",
    "moved": "a step of drawing",
    "dataset": "a step of reading",
}
"""Methods that do not check their arguments, in every class, with the reason."""

OWN_ERRORS = {"progress", "search", "score", "scoring_method", "permuted"}
"""Functions that are passed as arguments: their own exceptions are passed on."""

FOREIGN = {"X"}
"""Arguments that scikit-learn checks, with errors of its own."""


def parameters_of(thing: Any) -> list[str]:  # noqa: ANN401
    """Return the names of the parameters; ``**reading`` stands for the reading options."""
    known = inspect.signature(thing).parameters.values()
    names = [one.name for one in known if one.kind is not one.VAR_KEYWORD]
    if len(names) < len(known):
        names += ReadingOptions.__annotations__
    return [name for name in names if name not in ("self", "cls")]


@cache
def checked_names() -> dict[str, Any]:
    """Return the public names that take arguments, each function under one name."""
    every = {**public_names(), **public_methods()}
    distinct = {getattr(thing, "__func__", thing): name for name, thing in reversed(every.items())}
    return {
        name: every[name]
        for name in distinct.values()
        if not getattr(every[name], "_is_protocol", False)
        and not getattr(every.get(owner_of(name)), "_is_protocol", False)
        and owner_of(name) not in BASES
        and name.rpartition(".")[2] not in INTERNAL_METHODS
        and name not in INTERNAL
        and parameters_of(every[name])
    }


def owner_of(name: str) -> str:
    return name.rpartition(".")[0]


def function_of(name: str) -> Callable[..., Any]:
    """Return a function that calls a public name, fits estimators and consumes iterators."""
    thing = checked_names()[name]
    if inspect.isclass(thing) and hasattr(thing, "fit"):
        return lambda **arguments: thing(**arguments).fit(ROWS)
    if owner_of(name) in objects() and inspect.isfunction(thing):
        thing = getattr(objects()[owner_of(name)], name.rpartition(".")[2])

    def call(**arguments: Any) -> Any:  # noqa: ANN401
        found = thing(**arguments)
        return list(islice(found, 50)) if isinstance(found, Iterator) else found

    return call


def arguments_of(name: str) -> dict[str, Any]:
    """Return all arguments of a valid call."""
    known = inspect.signature(checked_names()[name]).parameters
    defaults = {key: p.default for key, p in known.items() if p.default is not p.empty}
    return {**defaults, **calls()[name]}


CASES = [
    (name, argument)
    for name, thing in checked_names().items()
    for argument in parameters_of(thing)
    if argument not in FOREIGN
]


def complaint(function: Callable[[], Any]) -> str | None:
    """Return what is wrong with the outcome of a call, or None if it is a result or one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function()
    except SgesError as error:
        text = str(error)
        return None if text and "\n" not in text else f"not one line: {text!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the calls read."""
    folder = tmp_path_factory.mktemp("inputs")
    (folder / "graph.json").write_text(export.to_json(DAG), encoding="utf-8")
    (folder / "result.json").write_text(result().to_json(), encoding="utf-8")
    (folder / "known.json").write_text('{"required": [["a", "b"]]}', encoding="utf-8")
    (folder / "table.csv").write_text("a,b\n0.5,1\n1.5,0.5\n2,2.5\n", encoding="utf-8")
    sges.network.write_bif(examples.asia(), folder / "asia.bif")
    return folder


@pytest.fixture(autouse=True)
def files(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Work in a folder with these files, and close the figures that the calls draw."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize(("name", "argument"), CASES, ids=str)
def test_a_wrong_type_is_one_line_of_our_own(name: str, argument: str) -> None:
    function, arguments = function_of(name), arguments_of(name)
    bad = {
        what: told
        for what, value in WRONG.items()
        if not (argument in OWN_ERRORS and callable(value))
        and (told := complaint(partial(function, **{**arguments, argument: value})))
    }
    assert not bad


@pytest.mark.parametrize("name", checked_names())
def test_a_call_with_the_right_types_works(name: str) -> None:
    try:
        function_of(name)(**arguments_of(name))
    except MissingLibrary:
        pytest.skip("needs a library that is not installed")


def test_every_public_name_has_a_call_or_is_internal() -> None:
    assert set(calls()) == set(checked_names())
    assert set(INTERNAL) <= set(public_names())
    assert set(INTERNAL_METHODS) <= {name.rpartition(".")[2] for name in public_methods()}
