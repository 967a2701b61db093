"""Wrong types for every argument of the names in ``sges`` give a one-line error or a result.

Each of their functions, constructors and methods of results has a valid call, or is listed with the
reason.
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

import numpy as np
import pytest

import sges
from public import public_methods, public_names
from sges import PDAG, Dataset, Knowledge, MaxParents, examples
from sges.data.reading import ReadingOptions
from sges.errors import MissingLibrary, SgesError
from sges.tools import export

TABLE = {"a": [0.5, 1.5, 2.0, 4.0, 3.0], "b": [1.0, 0.0, 2.5, 3.5, 1.5]}
ROWS = np.array([*TABLE.values()]).T
DAG = PDAG.from_edges(3, [(0, 1), (1, 2)], names=["a", "b", "c"])
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
def result() -> sges.Result:
    return sges.learn(TABLE)


@cache
def objects() -> dict[str, Any]:
    """Return an object of each public class whose methods are called."""
    return {
        "sges.Confidence": sges.confidence(TABLE, 2),
        "sges.Knowledge": Knowledge.of(NAMED),
        "sges.Result": result(),
        "sges.GES": sges.GES(),
        "sges.EdgeConfidence": sges.EdgeConfidence(n_resamples=2),
    }


BOUNDS = (
    sges.MaxParents, sges.MaxClique, sges.MaxTreewidth, sges.MaxVStructures, sges.MaxVWidth,
)  # fmt: skip


@cache
def calls() -> dict[str, dict[str, Any]]:
    """Return the arguments of valid calls by public name; other arguments have their defaults."""
    two, confidence = MaxParents(2), objects()["sges.Confidence"]
    node, pair = {"node": "a"}, {"a": "a", "b": "b"}
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
        # Tables
        "sges.Dataset.of": {"table": TABLE},
        "sges.inspect": {"table": TABLE},
        "sges.examples.load": {"name": "asia"},
        # Properties
        **{f"sges.{kind.__name__}": {"k": 2} for kind in BOUNDS},
        # Graphs
        "sges.PDAG": {"out": DAG.out, "into": DAG.into},
        "sges.PDAG.empty": {"n": 3},
        "sges.PDAG.complete": {"n": 3},
        "sges.PDAG.from_edges": {"n": 3, "directed": [(0, 1)], "undirected": [(1, 2)]},
        # Networks
        "sges.BayesianNetwork": {"dag": PDAG.empty(1), "cpts": [np.array([0.5, 0.5])]},
        "sges.BayesianNetwork.random": {"dag": DAG},
        # Results
        "sges.read_result": {"path": "result.json"},
        **{
            f"sges.Result.{name}": node
            for name in ("parents", "children", "neighbors", "markov_blanket", "ancestors")
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
        "sges.Confidence.strength": pair,
        "sges.Confidence.averaged": {},
        "sges.Confidence.effect": {"treatment": "a", "outcome": "b", "data": data()},
        "sges.Confidence.summary": {},
        "sges.Confidence.plot": {},
        "sges.Confidence.plot_curve": {},
        "sges.Confidence.save": {"directory": "confident"},
        "sges.Confidence.to_json": {},
        "sges.Confidence.from_json": {"text": confidence.to_json()},
        "sges.read_graph": {"path": "graph.json"},
    }  # fmt: skip


INTERNAL = dict.fromkeys(
    ("sges.Dataset", "sges.Confidence", "sges.Result", "sges.examples.Example"),
    "a value that functions return",
)
"""Public names that do not check their arguments, with the reason."""

BY_NUMBER = (PDAG, sges.BayesianNetwork)
"""Classes whose methods take nodes by number: only what makes their objects checks types."""

OWN_ERRORS = {"keep", "progress", "search", "score", "scoring_method", "permuted"}
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


def owner_of(name: str) -> str:
    return name.rpartition(".")[0]


def name_of(kind: type) -> str:
    return f"sges.{kind.__name__}"


@cache
def checked_names() -> dict[str, Any]:
    """Return the public names that take arguments, each function under one name."""
    every = {**public_names(), **public_methods()}
    distinct = {getattr(thing, "__func__", thing): name for name, thing in reversed(every.items())}
    return {
        name: every[name]
        for name in distinct.values()
        if name.split(".")[1] in sges.__all__
        and name not in INTERNAL
        and owner_of(name) not in map(name_of, BOUNDS)
        and (owner_of(name) not in map(name_of, BY_NUMBER) or inspect.ismethod(every[name]))
        and parameters_of(every[name])
    }


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
