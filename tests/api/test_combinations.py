"""Every pair of features works together on a tiny table, or is refused in one line.

Two tables say which pairs are refused: ``sges.combinations.REFUSED``, and ``BY_STATISTICS`` for
what is refused where a score is made from a table.  ``docs/promises.md`` shows both.
"""

import inspect
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sges
from sges.combinations import REFUSED
from sges.data import Moments
from sges.errors import SgesError
from sges.score import BDeu, GaussianBIC
from sges.search import STRATEGIES, Strategy

NAMES = ("a", "b", "c", "d")
ROWS = 60
PAGE = Path(__file__).parents[2] / "docs" / "promises.md"

BY_STATISTICS = {
    frozenset(pair)
    for pair in (
        ("moments", "score_of_records"),
        ("continuous", "discrete"),
        ("missing_level", "continuous"),
        ("missing_em", "penalty_choose"),
    )
}
PAIRS = {frozenset(row[:2]) for row in REFUSED} | BY_STATISTICS


class FewEdges:
    """A property of a user: at most four edges among the nodes of a clique's neighbors."""

    def holds(self, graph: sges.PDAG) -> bool:
        return graph.edge_count() <= 4


class InPython:
    """A score in Python, without batch methods."""

    names = NAMES
    n = 4

    def __init__(self) -> None:
        self.score = GaussianBIC(sges.Dataset.of(columns("continuous")))

    def local(self, y: int, parents: int) -> float:
        return self.score.local(y, parents)


def columns(kind: str) -> dict[str, Any]:
    """Return a → c ← b, c → d as a small table."""
    rng = np.random.default_rng(1)
    a, b, e, f = rng.normal(size=(4, ROWS))
    c = a + b + e / 2
    table = {"a": a, "b": b, "c": c, "d": c + f}
    if kind == "discrete":
        return {name: np.where(values > 0, "yes", "no") for name, values in table.items()}
    return table


@dataclass(frozen=True)
class Feature:
    """Arguments of ``learn``, fields of the strategy, and the words of the tables that it gives."""

    name: str
    words: str = ""
    kind: str | None = None
    strategy: Mapping[str, Any] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)


def feature(name: str, words: str = "", kind: str | None = None, **arguments: Any) -> Feature:  # noqa: ANN401
    return Feature(name, words, kind, None, arguments)


def strategy(name: str = "", **fields: Any) -> Feature:  # noqa: ANN401
    return Feature(name or f"Strategy {' '.join(fields)}", " ".join(fields), None, fields)


PLAIN = Strategy()
START = sges.PDAG.from_edges(4, directed=[(0, 2), (1, 2), (2, 3)])  # two parents
CLIQUES = {"assume": sges.MaxClique(2)}
COMING: dict[str, Any] = {"exogenous": ["a"], "memory_limit": "1GB", "candidates": {"d": ["a"]}}
FEATURES = [
    *[
        strategy(
            f"strategy {word}",
            **{
                each.name: getattr(named, each.name)
                for each in fields(named)
                if getattr(named, each.name) != getattr(PLAIN, each.name)
            },
        )
        for word, named in STRATEGIES.items()
    ],
    strategy(order=True),
    strategy(extended=True, patience=0.5),
    strategy(sets_per_clique=4),
    strategy(exact=True),
    strategy(drop_large=True),
    *[
        Feature(f"{word} under a property", f"property {word}", None, {word: True}, CLIQUES)
        for word in ("exact", "drop_large")
    ],
    *[feature(f"forward {word}", forward=word) for word in ("fes", "poly", "order")],
    feature("forward complete", "forward_complete", forward="complete"),
    feature("assume parents", "property", assume=sges.MaxParents(2)),
    feature("assume v-structures", "property no_bound_on_cliques", assume=sges.MaxVStructures(2)),
    feature("assume own", "property no_bound_on_cliques own_property", assume=FewEdges()),
    feature("assume auto", "property bound_from_data", assume="auto"),
    feature("required", "required_edges", knowledge={"required": [("a", "c"), ("b", "c")]}),
    feature("forbidden", knowledge={"forbidden": [("c", "a")]}),
    feature("tiers", knowledge={"tiers": [["a", "b"], ["c", "d"]]}),
    feature("max_indegree", "max_indegree", max_indegree=1),
    feature("start", "start", start=START),
    feature("penalty number", "penalty_number", penalty=2.0),
    feature("penalty choose", "penalty_choose", penalty="choose"),
    feature("gaussian-bic", "", "continuous", score="gaussian-bic"),
    feature("bge", "score_without_penalty", "continuous", score="bge"),
    feature("rank", "score_of_records", "continuous", score="rank"),
    feature("basis", "score_of_records", score="basis"),
    feature("degenerate-gaussian", "score_of_records", score="degenerate-gaussian"),
    feature("discrete-bic", "", "discrete", score="discrete-bic"),
    feature("qnml", "score_without_penalty", "discrete", score="qnml"),
    feature("bdeu", "score_without_penalty", "discrete", score="bdeu"),
    feature("score function", "made_score", "discrete", score=BDeu),
    feature("score object", "score_object made_score", score=InPython()),
    feature("table", "table", table="table"),
    feature("moments", "moments table", "continuous", table="moments"),
    feature("missing drop", "reading", missing="drop"),
    feature("missing level", "reading missing_level", "discrete", missing="level"),
    feature("missing em", "reading missing_em", missing="em"),
    feature("survey weights", "reading survey_weights", weights="weight"),
    feature("columns", "reading", columns=[*NAMES]),
    feature("checkpoint", "checkpoint", checkpoint="run.checkpoint"),
    feature("time limit", time_limit=60),
    feature("jobs", n_jobs=2),
    feature("progress", progress=lambda _: None),
    *[
        Feature(word, word, arguments={word: value})
        for word, value in COMING.items()
        if word in inspect.signature(sges.learn).parameters
    ],
]


def is_one_choice(first: Feature, second: Feature) -> bool:
    """Return whether two features are values of one option."""
    named = all(one.name.startswith("strategy ") for one in (first, second))
    return named or bool({*first.arguments} & {*second.arguments})


def learn(features: tuple[Feature, ...]) -> sges.Result:
    """Learn from a tiny table with some features."""
    arguments = {key: value for one in features for key, value in one.arguments.items()}
    options = [one.strategy for one in features if one.strategy is not None]
    if options:
        arguments["strategy"] = Strategy(**{key: each[key] for each in options for key in each})
    kinds = {one.kind for one in features} - {None}
    table: Any = columns("discrete" if "discrete" in kinds else "continuous")
    if kinds == {"continuous", "discrete"}:
        table["a"] = columns("continuous")["a"]
    if "missing" in arguments:
        table["d"] = [None, *table["d"][1:]]
    if "weights" in arguments:
        table["weight"] = np.linspace(0.5, 1.5, ROWS)
    is_object = isinstance(arguments.get("score"), InPython)
    given = arguments.pop("table", None if is_object else "table")
    if given == "moments":
        table = Moments.of(sges.Dataset.of(columns("continuous")))
    return sges.learn(None if given is None else table, **arguments)


def refusal_of(features: tuple[Feature, ...]) -> str | None:
    """Return the line that refuses some features; None if they work together."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = learn(features)
    except SgesError as error:
        return str(error)
    return None if result.complete else "stopped"


def words_of(features: tuple[Feature, ...]) -> set[str]:
    """Return the words of the tables that some features give."""
    words = {word for one in features for word in one.words.split()}
    words |= {one.kind for one in features if one.kind is not None}
    if any(one.strategy is not None for one in features) and "interleaved" not in words:
        words.add("two_phases")
    if "property" not in words:
        words.add("no_property")
    if not words & {"discrete", "score_object"}:
        words.add("continuous")
    return words


def is_refused(words: set[str]) -> bool:
    """Return whether the tables refuse these words together."""
    return any(pair <= words for pair in PAIRS)


@pytest.mark.parametrize("number", range(len(FEATURES)), ids=[one.name for one in FEATURES])
def test_each_pair_works_or_is_refused_in_one_line(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = FEATURES[number]
    for second in FEATURES[number:]:
        features = (first,) if second is first else (first, second)
        if second is not first and is_one_choice(first, second):
            continue
        Path("run.checkpoint").unlink(missing_ok=True)
        what = " + ".join(one.name for one in features)
        refusal = refusal_of(features)
        assert (refusal is not None) == is_refused(words_of(features)), f"{what}: {refusal}"


IN_WORDS = {
    "interleaved": "`Strategy(interleaved=True)`",
    "turning": "`turning`",
    "repeat": "`repeat`",
    "order": "`Strategy(order=True)`",
    "two_phases": "two phases",
    "exact": "`exact=True`",
    "drop_large": "`drop_large=True`",
    "no_property": "no assumption",
    "bound_from_data": '`assume="auto"`',
    "no_bound_on_cliques": "a property without a bound on cliques",
    "own_property": "a property without any bound",
    "exogenous": "`exogenous=`",
    "forward_complete": '`forward="complete"`',
    "start": "`start=`",
    "required_edges": "required edges",
    "max_indegree": "a smaller `max_indegree`",
    "score_object": "a score object",
    "made_score": "a score object or function",
    "table": "a table",
    "reading": "options of reading",
    "checkpoint": "`checkpoint=`",
    "score_without_penalty": "`qnml`, `bdeu`, `bge`",
    "penalty_number": "a number as `penalty`",
    "penalty_choose": '`penalty="choose"`',
    "moments": "`Moments`",
    "score_of_records": "other scores than `gaussian-bic` and `bge`",
    "survey_weights": "survey weights",
    "missing_em": '`missing="em"`',
    "missing_level": '`missing="level"`',
    "discrete": "scores of discrete columns",
    "continuous": "continuous columns",
}


def test_the_page_shows_the_tables() -> None:
    part = PAGE.read_text(encoding="utf-8").split("## What works together")[1]
    rows = re.findall(r"^\| (.*?) \| (.*?) \|$", part, flags=re.MULTILINE)[2:]
    shown = {frozenset((this, other)) for this, others in rows for other in others.split("; ")}
    assert shown == {frozenset(IN_WORDS[word] for word in pair) for pair in PAIRS}
