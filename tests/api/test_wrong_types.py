"""Wrong types for every argument of every public function: one line of our own, or a result.

Each public function has a call that works.  Then each of its arguments in turn is replaced by
values of other types.  The call may still work, as some functions take much; otherwise it raises
an ``SgesError`` with a message of one line.
"""

import inspect
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from sges import (
    PDAG,
    BayesianNetwork,
    Dataset,
    Knowledge,
    MaxClique,
    MaxParents,
    MaxTreewidth,
    MaxVStructures,
    MaxVWidth,
    Strategy,
    examples,
    export,
    graph,
    metrics,
    network,
    penalty,
    plot,
    properties,
    score,
    search,
)
from sges.data import Moments
from sges.errors import SgesError
from sges.search.auto import auto_bound

TABLE = {"a": [0.5, 1.5, 2.0, 4.0, 3.0], "b": [1.0, 0.0, 2.5, 3.5, 1.5]}
DAG = PDAG.from_edges(3, [(0, 1), (1, 2)], names=["a", "b", "c"])
NAMED = {"required": [("a", "b")]}


class Odd:
    """An object that nothing knows."""

    def __repr__(self) -> str:
        return "an odd\nobject"


WRONG: dict[str, Any] = {
    "None": None,
    "an object": Odd(),
    "a negative number": -7,
    "a fraction": 2.5,
    "not a number": float("nan"),
    "a large number": 10**30,
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
def discrete() -> Dataset:
    return Dataset.of({"a": [0, 1, 0, 1, 1], "b": [0, 1, 1, 1, 0]}, kinds="discrete")


@cache
def oracle() -> score.Score:
    return score.SeparationOracle(DAG)


def edge_confidence(estimator: Any, n_resamples: Any, draw: Any, random_state: Any) -> Any:  # noqa: ANN401
    model = sges.EdgeConfidence(estimator, n_resamples, draw=draw, random_state=random_state)
    return model.fit(np.array([*TABLE.values()]).T)


Call = tuple[Callable[..., Any], dict[str, Any]]

SEARCH: dict[str, Any] = {
    "max_indegree": None, "time_limit": None, "progress": None, "constraint": None,
}  # fmt: skip
COUNTED = {**SEARCH, "counting": True}
SELECTIVE: dict[str, Any] = {"exact": False, "drop_large": False}


def calls() -> dict[str, Call]:
    """Return calls that work, by name: a function and all of its arguments."""
    s, two = oracle(), MaxParents(2)
    learned: dict[str, Any] = {
        "table": TABLE, "score": "auto", "assume": None, "knowledge": None, "strategy": "auto",
        "penalty": 1.0, "forward": None, "start": None, "max_indegree": None, "time_limit": None,
        "n_jobs": None, "progress": None, "kinds": None, "missing": "error", "names": None,
        "columns": None, "exclude": None, "weights": None,
    }  # fmt: skip
    read: dict[str, Any] = {
        "table": TABLE, "kinds": None, "missing": "error", "names": None, "weights": None,
        "columns": None, "exclude": None, "delimiter": None, "decimal": ".", "encoding": None,
        "missing_words": None, "format": None,
    }  # fmt: skip
    resampled = {word: value for word, value in learned.items() if word != "start"} | {
        "replicates": 2, "draw": "auto", "seed": 0, "checkpoint": None,
    }  # fmt: skip
    return {
        "learn": (sges.learn, learned),
        "confidence": (sges.confidence, resampled),
        "EdgeConfidence": (
            edge_confidence,
            {"estimator": None, "n_resamples": 2, "draw": "auto", "random_state": 0},
        ),
        "Moments.merge": (
            lambda other: Moments.of(data()).merge(other), {"other": Moments.of(data())}
        ),
        "Dataset.of": (Dataset.of, read),
        "Moments.of": (Moments.of, {"dataset": data()}),
        "ges": (search.ges, {"score": s, **COUNTED}),
        "sges": (
            search.sges,
            {"score": s, "assume": two, "forward": None, "start": None, **SELECTIVE, **COUNTED},
        ),
        "fes": (search.fes, {"score": s, "start": None, **COUNTED}),
        "poly_fes": (search.poly_fes, {"score": s, "start": None, "max_t": 0, **COUNTED}),
        "bes": (search.bes, {"score": s, "start": DAG, **COUNTED}),
        "sbes": (search.sbes, {"score": s, "start": DAG, "assume": two, **SELECTIVE, **COUNTED}),
        "turning": (search.turning, {"score": s, "start": DAG, **COUNTED}),
        "interleaved": (
            search.interleaved,
            {"score": s, "assume": None, "start": None, **SELECTIVE, **COUNTED},
        ),
        "search": (
            search.search,
            {"score": s, "assume": None, "strategy": "two-phase", "forward": None, "start": None,
             "n_jobs": None, **SEARCH},
        ),
        "auto_bound": (
            auto_bound,
            {"score": s, "kind": MaxParents, "forward": None, "start": None,
             "strategy": "two-phase", "max_bound": None, **SEARCH},
        ),
        "Strategy": (
            Strategy,
            {"patience": 0.0, "time_limit": None, "max_evaluations": None, "sets_per_clique": None,
             "effort": None, "extended": True},
        ),
        "choose_penalty": (
            penalty.choose_penalty,
            {"data": Dataset.of({k: v * 4 for k, v in TABLE.items()}), "score": "auto",
             "candidates": [1.0], "method": "held-out", "parts": 2, "search": search.ges,
             "seed": 0, "n_jobs": None, "time_limit": None},
        ),
        "rule_of_thumb": (penalty.rule_of_thumb, {"data": data(), "gamma": 0.5}),
        "extended_bic": (penalty.extended_bic, {"variables": 2, "records": 9, "gamma": 0.5}),
        "examples.load": (examples.load, {"name": "asia"}),
        "Knowledge": (
            Knowledge,
            {"required": [], "forbidden": [], "tiers": [], "not_adjacent": [],
             "forbid_within": False},
        ),
        "Knowledge.of": (Knowledge.of, {"value": NAMED}),
        "Knowledge.bind": (Knowledge.of(NAMED).bind, {"names": ["a", "b"]}),
        "GaussianBIC": (score.GaussianBIC, {"data": data(), "penalty": 1.0}),
        "GaussianBIC.from_covariance": (
            score.GaussianBIC.from_covariance,
            {"covariance": np.eye(2), "records": 9, "penalty": 1.0, "names": None},
        ),
        "DiscreteBIC": (score.DiscreteBIC, {"data": discrete(), "penalty": 1.0}),
        "BDeu": (score.BDeu, {"data": discrete(), "ess": 1.0}),
        "BGe": (score.BGe, {"data": data()}),
        "DegenerateGaussian": (score.DegenerateGaussian, {"data": data(), "penalty": 1.0}),
        "SeparationOracle": (score.SeparationOracle, {"dag": DAG}),
        "check_score": (score.check_score, {"score": s}),
        **{kind.__name__: (kind, {"k": 2}) for kind in (
            MaxParents, MaxClique, MaxVWidth, MaxTreewidth, MaxVStructures)},
        "MaxParents.of": (MaxParents.of, {"graph": DAG}),
        "check_property": (properties.check_property, {"prop": two}),
        "PDAG.from_edges": (
            PDAG.from_edges, {"n": 3, "directed": [(0, 1)], "undirected": [(1, 2)], "names": None},
        ),
        "PDAG.empty": (PDAG.empty, {"n": 3}),
        "PDAG.complete": (PDAG.complete, {"n": 3}),
        **{f.__name__: (f, {"graph": DAG}) for f in (graph.is_dag, graph.is_cpdag)},
        "dag_to_cpdag": (graph.dag_to_cpdag, {"dag": DAG}),
        "pdag_to_dag": (graph.pdag_to_dag, {"pdag": DAG}),
        "pdag_to_cpdag": (graph.pdag_to_cpdag, {"pdag": DAG}),
        "d_separated": (graph.d_separated, {"dag": DAG, "x": 0, "y": 2, "given": [1]}),
        "topological_order": (graph.topological_order, {"dag": DAG}),
        "covered_edges": (graph.covered_edges, {"dag": DAG}),
        "maximally_oriented": (graph.maximally_oriented, {"pdag": DAG}),
        "is_imap": (graph.is_imap, {"candidate": DAG, "truth": DAG}),
        "class_size": (graph.class_size, {"graph": DAG, "limit": 10}),
        "sample_members": (graph.sample_members, {"graph": DAG, "seed": 0, "k": 1}),
        "compare": (metrics.compare, {"truth": DAG, "found": DAG, "classes": True}),
        "to_json": (export.to_json, {"graph": DAG}),
        **{f.__name__: (f, {"graph": DAG}) for f in (
            export.to_csv, export.to_graphml, export.to_gml)},
        "to_dot": (export.to_dot, {"graph": DAG}),
        "to_numpy": (export.to_numpy, {"graph": DAG, "convention": "row-to-column"}),
        "read_graph": (export.read_graph, {"path": "nowhere.json"}),
        "draw": (plot.picture, {"graph": DAG, "kind": "svg", "title": None, "legend": True,
                                "engine": "own", "dpi": 20}),
        "random_dag": (network.random_dag, {"n": 3, "edges": 2, "seed": 0}),
        "random_polytree": (network.random_polytree, {"n": 3, "seed": 0}),
        "random_structure": (network.random_structure, {"n": 3, "max_parents": 2, "seed": 0}),
        "BayesianNetwork.random": (
            BayesianNetwork.random, {"dag": DAG, "arity": 2, "concentration": 0.5, "seed": 0},
        ),
        "BayesianNetwork.sample": (examples.asia().sample, {"m": 3, "seed": 0}),
    }  # fmt: skip


OWN_ERRORS = {"progress", "search", "score"}
"""Arguments that are called: what a function of the caller raises is the caller's."""

CASES = [(name, argument) for name, (_, arguments) in calls().items() for argument in arguments]


def complaint(function: Callable[[], Any]) -> str | None:
    """Return what is wrong with how a call ends, or None if it ends as it should."""
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


@pytest.mark.parametrize(("name", "argument"), CASES, ids=str)
def test_a_wrong_type_is_one_line_of_our_own(
    name: str, argument: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, arguments = calls()[name]
    bad = {
        what: told
        for what, value in WRONG.items()
        if not (argument in OWN_ERRORS and callable(value))
        and (told := complaint(partial(function, **{**arguments, argument: value})))
    }
    assert not bad


@pytest.mark.parametrize("name", calls())
def test_the_calls_work_with_right_types_and_name_every_argument(name: str) -> None:
    function, arguments = calls()[name]
    if name != "read_graph":  # its file is not there
        function(**arguments)
    known = inspect.signature(function).parameters
    assert set(arguments) <= set(known)
    if name in ("learn", "Dataset.of", "search", "ges", "sges", "choose_penalty"):
        assert set(arguments) == set(known)
