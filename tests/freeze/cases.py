"""What the package must keep giving: facts of public calls, as JSON values, by the name of a case.

The tables come from ``tables`` and use NumPy alone.  Graphs are final graphs, written as one
line of text; steps are not kept.  Numbers are compared up to rounding.
"""

import contextlib
import inspect
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import sges
import tables
from public import public_modules
from sges import PDAG, Dataset, Knowledge, MaxParents, MaxVWidth, Strategy
from sges.errors import SgesError
from sges.score import GaussianBIC

Case: TypeAlias = Callable[[], Any]

STRATEGIES = ("two-phase", "turning", "interleaved", "extended", "auto")
KNOWLEDGE: dict[str, Callable[[tuple[str, ...]], Knowledge]] = {
    "forbidden": lambda names: Knowledge(forbidden=[(names[0], names[1]), (names[1], names[0])]),
    "required": lambda names: Knowledge(required=[(names[0], names[2])]),
    "tiers": lambda names: Knowledge(tiers=[names[:3], names[3:]]),
}


def _weighted() -> Dataset:
    codes, _ = tables.codes(6, 7, 150, 5)
    weights = 1.0 + np.arange(150) % 4
    return Dataset.of({f"c{v}": codes[:, v].astype(str) for v in range(6)}, weights=weights)


def _with_holes(table: Mapping[str, Any], missing: str) -> Dataset:
    holes = np.random.default_rng(7).random((len(next(iter(table.values()))), len(table))) < 0.06
    columns = {
        name: [
            None if hole else value
            for value, hole in zip(column.tolist(), holes[:, v], strict=True)
        ]
        for v, (name, column) in enumerate(table.items())
    }
    return Dataset.of(columns, missing=missing)  # type: ignore[arg-type]


def _named(data: tables.Floats) -> dict[str, Any]:
    return {f"x{v}": data[:, v] for v in range(data.shape[1])}


TABLES: dict[str, Callable[[], Any]] = {
    "gaussian": lambda: _named(tables.gaussian(9, 12, 300, 1)),
    "gaussian, few rows": lambda: _named(tables.gaussian(10, 12, 25, 2)),
    "gaussian, dense": lambda: _named(tables.gaussian(8, 20, 500, 3)),
    "discrete": lambda: tables.discrete(8, 9, 600, 4),
    "binary": lambda: tables.discrete(9, 12, 400, 5, arities=(2, 2)),
    "mixed": lambda: tables.mixed(8, 9, 400, 6),
    "weighted": _weighted,
    "dropped holes": lambda: _with_holes(_named(tables.gaussian(6, 7, 300, 8)), "drop"),
    "estimated holes": lambda: _with_holes(_named(tables.gaussian(6, 7, 300, 8)), "em"),
    "holes as a level": lambda: _with_holes(tables.discrete(6, 7, 300, 9), "level"),
    "collinear": lambda: _named(tables.collinear(6, 7, 200, 10, 1e-3)),
    "constant": lambda: _named(tables.with_constant(6, 7, 200, 11)),
    "common factor": lambda: _named(tables.common_factor(7, 2, 300, 12)),
    "wide": lambda: _named(tables.gaussian(40, 40, 60, 13)),
}


@cache
def table(name: str) -> Dataset:
    """Return a table by name."""
    return Dataset.of(TABLES[name]())


def in_text(graph: PDAG) -> str:
    """Return a graph as one line: its edges, sorted."""
    return " ".join(sorted(map(str, graph.edges))).replace(" → ", ">").replace(" — ", "-")


def found(name: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the graph and the score that ``learn`` finds."""
    if "knowledge" in options:
        options["knowledge"] = KNOWLEDGE[options["knowledge"]](table(name).names)
    result = sges.learn(table(name), **options)
    return {"graph": in_text(result.cpdag), "score": result.score, "complete": result.complete}


def searches() -> Iterator[tuple[str, Case]]:
    """Yield the searches: tables × strategies × knowledge × limits, starts, scores, bounds."""
    for name in TABLES:
        for strategy in STRATEGIES:
            yield f"{name}: {strategy}", partial(found, name, strategy=strategy)
        for kind in KNOWLEDGE:
            yield f"{name}: {kind}", partial(found, name, knowledge=kind)
        yield f"{name}: max_indegree", partial(found, name, max_indegree=2)
        yield f"{name}: penalty 1", partial(found, name, penalty=1, strategy="interleaved")
    for name in ("gaussian", "discrete", "mixed", "weighted"):
        for strategy in STRATEGIES:
            for kind in KNOWLEDGE:
                yield (
                    f"{name}: {strategy}, {kind}, max_indegree",
                    partial(found, name, strategy=strategy, knowledge=kind, max_indegree=3),
                )
        for forward in ("fes", "poly", "order", "complete"):
            yield f"{name}: forward {forward}", partial(found, name, forward=forward)
            yield (
                f"{name}: forward {forward}, at most two parents",
                partial(found, name, forward=forward, assume=MaxParents(2)),
            )
        yield f"{name}: v-width 1", partial(found, name, assume=MaxVWidth(1))
        yield (
            f"{name}: exact",
            partial(found, name, assume=MaxParents(2), strategy=Strategy(exact=True)),
        )
        yield f"{name}: bound by score", partial(found, name, assume="auto")
        yield (
            f"{name}: from a start",
            partial(found, name, start=PDAG.from_edges(len(table(name).names), [(0, 1), (2, 1)])),
        )
    scores = {
        "gaussian": ("gaussian-bic", "bge", "rank", "basis"),
        "discrete": ("discrete-bic", "qnml", "bdeu", "bdeu-levels"),
        "mixed": ("degenerate-gaussian",),
    }
    for name, words in scores.items():
        for word in words:
            yield f"{name}: score {word}", partial(found, name, score=word)


# What people do with a result


@cache
def learned(name: str) -> sges.Result:
    return sges.learn(table(name))


def _json(name: str) -> Any:  # noqa: ANN401
    record = learned(name).to_dict()
    for varies in ("seconds", "steps", "score_evaluations", "operators_considered", "notes"):
        record.pop(varies, None)
    return record


def _confidence(name: str, **options: Any) -> Any:  # noqa: ANN401
    confidence = sges.confidence(table(name), 12, seed=1, **options)
    frame = confidence.to_frame()
    return {
        "draw": confidence.draw,
        "strengths": {
            f"{row['a']} {row['b']}": [row["p_ab"], row["p_ba"], row["p_undirected"]]
            for _, row in frame.iterrows()
            if row["p_edge"]
        },
        "averaged": in_text(confidence.averaged().cpdag),
    }


def _members(name: str) -> Any:  # noqa: ANN401
    result = learned(name)
    return {
        "size": str(result.class_size()),
        "dag": in_text(result.dag()),
        "members": sorted(in_text(member) for member in result.members())[:6],
    }


def uses() -> Iterator[tuple[str, Case]]:
    """Yield what people ask of a result: effects, networks, confidence, certificates, JSON."""
    for name in ("gaussian", "discrete", "mixed", "estimated holes"):
        yield f"json of {name}", partial(_json, name)
        yield f"members of {name}", partial(_members, name)
    for name in ("gaussian", "discrete", "weighted"):
        yield f"effects in {name}", partial(_effects, name)
        yield f"effect in {name}", partial(_effect, name)
        yield f"confidence in {name}", partial(_confidence, name)
    yield "confidence in mixed", partial(_confidence, "mixed")
    yield "confidence by halves", partial(_confidence, "discrete", draw="half", penalty=1.5)
    for name in ("gaussian", "discrete"):
        yield f"certificate of {name}", partial(_certificate, name)
        yield f"explanation in {name}", partial(_explained, name)
    for name in ("gaussian", "discrete", "mixed"):
        yield f"fit of {name}", partial(_fitted, name)
    for kind in ("dot", "graphml", "csv", "json"):
        yield f"file in {kind}", partial(_file, kind)
    yield "asia from BIF", _bif


def _effects(name: str) -> Any:  # noqa: ANN401
    return [e.to_dict() for e in learned(name).effects(on=table(name).names[3])]


def _effect(name: str) -> Any:  # noqa: ANN401
    names = table(name).names
    return learned(name).effect(names[0], names[3]).to_dict()


def _certificate(name: str) -> str:
    certificate = learned(name).certify()
    inserts = certificate.inserts
    return f"{certificate.optimal} {certificate.checked} {inserts and inserts.checked}"


def _explained(name: str) -> list[object]:
    result = learned(name)
    return [[str(edge), edge.strength] for edge in result.edges]


def _fitted(name: str) -> list[float]:
    fitted: Any = learned(name).fit(table(name))
    values: list[float] = fitted.log_probability(table(name)).tolist()
    return values[:8]


def _file(kind: str) -> str:
    from sges.tools.export import write_graph

    path = Path(f"graph.{kind}")
    write_graph(learned("discrete").cpdag, path)
    return path.read_text(encoding="utf-8")


def _bif() -> str:
    from sges.network import write_bif

    write_bif(sges.examples.asia(), "asia.bif")
    return Path("asia.bif").read_text(encoding="utf-8")


# The command line

ASIA, GREENHOUSE = (str(sges.examples.load(name).path) for name in ("asia", "greenhouse"))

COMMANDS = (
    f"learn {ASIA}",
    f"learn {GREENHOUSE} --penalty 1 --strategy two-phase",
    f"learn {GREENHOUSE} --max-v-width 2 --max-indegree 3",
    f"inspect {GREENHOUSE}",
    f"inspect {ASIA} --json",
    f"confidence {ASIA} --replicates 10",
    f"learn {ASIA} --out out",
    "measure out/graph.json",
    "compare out/graph.json out/graph.json",
    "convert out/graph.json graph.dot",
    "convert out/graph.json -",
    f"effect {GREENHOUSE} watering fruit_weight",
    f"effects {GREENHOUSE} --on fruit_weight",
    "simulate 5 6 --records 4 --seed 3",
    "learn nowhere.csv",
    f"learn {ASIA} --score bicc",
    "learn",
)


def _command(words: str) -> dict[str, Any]:
    from sges.cli.app import run

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words.split())
    varies = re.compile(r"^\s*\"?(seconds|evaluations|steps|note|score_evaluations)\b")
    return {
        "code": code,
        "out": [
            re.sub(r"\S*/", "", line)
            for line in out.getvalue().splitlines()
            if not varies.match(line)
        ],
        "err": re.sub(r"\S*/", "", err.getvalue()),
    }


def commands() -> Iterator[tuple[str, Case]]:
    """Yield the output of commands, without times, counts and notes."""
    for words in COMMANDS:
        name = re.sub(r"\S*/(?=\w+\.csv)", "", words)
        yield f"sges {name}", partial(_command, words)


# Messages

PAIR = {"a": [0.5, 1.5, 2.0, 4.0, 3.0], "b": [1.0, 0.0, 2.5, 3.5, 1.5]}
WRONG: dict[str, Any] = {
    "score": ["bicc", "BIC", "qnml", "discrete-bic", 3],
    "penalty": [-1, float("nan"), "much"],
    "strategy": ["extendet", "ges", 2],
    "forward": ["polly", "bes"],
    "assume": ["MaxParents", 2, "automatic"],
    "max_indegree": [-1, 2.5, "two"],
    "time_limit": [-1, "long", float("nan")],
    "n_jobs": [0, 1.5],
    "knowledge": [
        {"required": [["a", "c"]]},
        {"required": [["a", "b"], ["b", "a"]]},
        {"required": [["a", "b"]], "forbidden": [["a", "b"]]},
        {"tiers": [["a"], ["a", "b"]]},
        {"needed": []},
        "nowhere.toml",
    ],
    "start": ["nowhere.json", 3],
    "missing": ["fill", None],
    "kinds": ["numeric", {"c": "discrete"}, {"a": "ordinal"}],
    "columns": [["c"], "a"],
    "exclude": [["c"], ["a", "b"]],
    "weights": ["c", [1.0, 2.0], [-1.0, 1.0, 1.0, 1.0, 1.0]],
    "names": [["a"], ["a", "a"]],
    "delimiter": [",,"],
}
BAD_TABLES: dict[str, Any] = {
    "no rows": {"a": [], "b": []},
    "one row": {"a": [1.0], "b": [2.0]},
    "a hole": {"a": [1.0, None, 2.5], "b": [2.0, 1.5, 0.5]},
    "infinite": {"a": [1.0, float("inf"), 2.5], "b": [2.0, 1.5, 0.5]},
    "lengths": {"a": [1.0, 2.0], "b": [1.0]},
    "identifiers": {"a": [f"k{i}" for i in range(60)], "b": [i % 2 for i in range(60)]},
    "no columns": {},
    "three dimensions": np.zeros((2, 2, 2)),
    "a number": 5,
    "a path": "nowhere.csv",
}


def _message(call: Callable[[], object]) -> str:
    try:
        call()
    except SgesError as error:
        return f"{type(error).__name__}: {error}"
    return "no error"


def messages() -> Iterator[tuple[str, Case]]:
    """Yield the messages of the front door for wrong values."""
    for option, values in WRONG.items():
        for i, value in enumerate(values, 1):
            call = partial(sges.learn, PAIR, **{option: value})
            yield f"wrong {option}, {i}", partial(_message, call)
    for name, bad in BAD_TABLES.items():
        yield f"wrong table: {name}", partial(_message, partial(sges.learn, bad))
    result = partial(learned, "gaussian")
    yield "wrong node", partial(_message, lambda: result().parents("x99"))
    yield "wrong pair", partial(_message, lambda: result().effect("x0", "x0"))
    yield "wrong cpdag", partial(
        _message, lambda: GaussianBIC(table("gaussian"), penalty=-1.0)
    )  # fmt: skip
    yield "wrong bound", partial(_message, lambda: MaxParents(0))
    yield "wrong replicates", partial(_message, lambda: sges.confidence(PAIR, 0))
    yield "wrong draw", partial(_message, lambda: sges.confidence(PAIR, draw="jackknife"))


# Names


def interface() -> Iterator[tuple[str, Case]]:
    """Yield the names and signatures of each public module."""
    for module in public_modules():
        yield f"names of {module.__name__}", partial(_signatures, module)


def _signatures(module: Any) -> dict[str, str]:  # noqa: ANN401
    signatures = {}
    for name in sorted(module.__all__):
        thing = getattr(module, name)
        methods = {"": thing}
        if inspect.isclass(thing):
            methods |= {f".{m}": f for m, f in vars(thing).items() if not m.startswith("_")}
        for suffix, each in methods.items():
            function = getattr(each, "__func__", each)
            try:
                signatures[name + suffix] = re.sub(
                    r"0x[0-9a-f]+", "", str(inspect.signature(function))
                )
            except (TypeError, ValueError):
                signatures[name + suffix] = ""
    return signatures


def cases() -> dict[str, Case]:
    """Return all cases by name, in the order in which they are run."""
    warnings.simplefilter("ignore")
    groups = (searches, uses, commands, messages, interface)
    return {name: case for group in groups for name, case in group()}
