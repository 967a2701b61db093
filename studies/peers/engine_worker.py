"""Answer requests one after the other, with the time and the result of a search.

The engine study keeps two of these processes, one with the predecessor and one with the
present package, and sends them requests in turn.  A request and its answer are each a line of JSON.
This file runs with either package, so it uses only what both provide.
"""

import gc
import hashlib
import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from statistics import median
from typing import Any, TypeAlias

import numpy as np

from studies.peers.worker import memory, one_line, quiet, timed

Answer: TypeAlias = dict[str, Any]
Search: TypeAlias = Callable[[], Any]
"""A prepared search; it returns a ``Result``, or several."""

THREADS = 8
CALLS = 4 * THREADS  # whose throughput is measured
REPETITIONS = 5  # of each timing of the throughput


def main() -> None:
    """Answer until there are no more requests."""
    import sges

    with quiet() as tell:
        tell({"ready": sges.__file__})
        for line in sys.stdin:
            try:
                tell(answer(json.loads(line)))
            except Exception as error:
                tell({"failed": one_line(error)})


def answer(request: dict[str, Any]) -> Answer:
    """Run a search several times; return the median time and the last result."""
    if request["do"] in SEVERAL_TIMES:
        return SEVERAL_TIMES[request["do"]](request["table"], **request["options"])
    run = prepared(request["do"], request["table"], json.dumps(request["options"]))
    gc.collect()
    clock = time.perf_counter if request["wall"] else time.process_time
    runs = [timed(run, clock) for _ in range(request["loops"])]
    seconds = median(seconds for _, seconds in runs)
    return {**facts(runs[-1][0]), "seconds": seconds, "megabytes": memory("VmHWM")}


def facts(found: Any) -> Answer:  # noqa: ANN401 (a Result, or several that are alike)
    """Return what two packages must agree on."""
    result = found[0] if isinstance(found, list) else found
    edges = [sorted(result.cpdag.directed_edges()), sorted(result.cpdag.undirected_edges())]
    return {
        "graph": hashlib.sha256(json.dumps(edges).encode()).hexdigest()[:16],
        "edges": sum(map(len, edges)),
        "score": result.score,
    }


@cache
def prepared(do: str, path: str, options: str) -> Search:
    """Return a prepared search, cached; the preparation is not timed."""
    return SEARCHES[do](path, **json.loads(options))


@cache
def table(path: str) -> Any:  # noqa: ANN401 (an array)
    """Return a table as an array in memory."""
    with np.load(path) as stored:
        return stored["values"]


@cache
def gaussian(path: str) -> Any:  # noqa: ANN401 (a score)
    """Return a score with its correlations computed."""
    from sges.score import GaussianBIC

    return GaussianBIC(table(path))


def on_score(path: str, strategy: str) -> Search:
    """Search with a prepared score."""
    from sges.search import search

    return partial(search, gaussian(path), strategy=strategy, counting=False)


def from_table(path: str, **options: Any) -> Search:  # noqa: ANN401
    """Learn from an array with the BIC, its penalty 1 or by the rule of thumb."""
    import sges
    from sges.data import Dataset
    from sges.tools.penalty import rule_of_thumb

    by_rule = options.pop("penalty", None) == "rule"
    penalty = rule_of_thumb(Dataset.of(table(path))) if by_rule else 1.0
    return partial(sges.learn, table(path), penalty=penalty, **options)


def without_options(path: str, **reading: Any) -> Search:  # noqa: ANN401
    """Learn from an array; only how it is read may be given."""
    import sges

    return partial(sges.learn, table(path), **reading)


def from_mixed(path: str, strategy: str) -> Search:
    """Learn from a table whose every other column is discrete, with three levels."""
    import sges

    values = table(path)
    columns = {f"x{v}": values[:, v] for v in range(values.shape[1])}
    for name in list(columns)[::2]:
        columns[name] = np.digitize(columns[name], [-0.5, 0.5])
    kinds = dict.fromkeys(list(columns)[::2], "discrete")
    return partial(sges.learn, columns, kinds=kinds, strategy=strategy, penalty=1.0)


def in_single(path: str, strategy: str) -> Search:
    """Search from an array whose correlations are kept in single precision."""
    from sges.data import Dataset
    from sges.score import GaussianBIC
    from sges.search import search
    from sges.tools.penalty import rule_of_thumb

    def run() -> Any:  # noqa: ANN401
        penalty = rule_of_thumb(Dataset.of(table(path)))
        return search(
            GaussianBIC(table(path), penalty, dtype="float32"), strategy=strategy, counting=False
        )

    return run


def from_complete(path: str, parents: int) -> Search:
    """Search backward from the complete graph with the score of a known covariance."""
    from sges import MaxParents
    from sges.score import GaussianOracle
    from sges.search import sges

    score = GaussianOracle(table(path))
    return partial(sges, score, MaxParents(parents), forward="complete", counting=False)


class OnlyLocal:
    """A user's own score, the same for both packages: a BIC of one family at a time, in Python."""

    def __init__(self, values: Any) -> None:  # noqa: ANN401
        self._rows, self.n = values.shape
        self._correlation = np.corrcoef(values, rowvar=False)

    def local(self, y: int, parents: int) -> float:
        """Return the score of a family."""
        family = [v for v in range(self.n) if parents >> v & 1] + [y]
        block = self._correlation[np.ix_(family, family)]
        deviation = np.linalg.cholesky(block)[-1, -1]
        return float(-self._rows * np.log(deviation) - np.log(self._rows) / 2 * (len(family) - 1))


class NoBounds:
    """A user's own property: at most this many parents, without bounds for the search."""

    def __init__(self, parents: int) -> None:
        from sges import MaxParents

        self._inner = MaxParents(parents)

    def holds(self, graph: Any) -> bool:  # noqa: ANN401
        """Return whether the property holds."""
        return self._inner.holds(graph)


def custom(path: str, strategy: str) -> Search:
    """Search with a user's own score."""
    from sges.search import search

    return partial(search, OnlyLocal(table(path)), strategy=strategy, counting=False)


def assuming(
    path: str, parents: int, strategy: str, bounds: bool = True, **options: bool
) -> Search:
    """Search with an assumed bound on parents, and options of the strategy."""
    from sges import MaxParents
    from sges.search import STRATEGIES, search

    assume = MaxParents(parents) if bounds else NoBounds(parents)
    chosen = replace(STRATEGIES[strategy], **options)
    return partial(search, gaussian(path), assume, strategy=chosen, counting=False)


def throughput(path: str, strategy: str) -> Answer:
    """Return the time of a call in one thread, and how many times its throughput several have."""
    learn = from_table(path, strategy=strategy)

    def seconds(threads: int) -> float:
        with ThreadPoolExecutor(threads) as pool:
            return _seconds(lambda: list(pool.map(lambda _: learn(), range(CALLS))))

    found = learn()
    pairs = [(seconds(1), seconds(THREADS)) for _ in range(REPETITIONS)]
    return {
        **facts(found),
        "seconds": median(one for one, _ in pairs) / CALLS,
        "ratio": median(one / several for one, several in pairs),
    }


def _seconds(call: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    begun = clock()
    call()
    return clock() - begun


SEARCHES: dict[str, Callable[..., Search]] = {
    "search": on_score,
    "learn": from_table,
    "default": without_options,
    "mixed": from_mixed,
    "single": in_single,
    "complete": from_complete,
    "custom": custom,
    "assuming": assuming,
}

SEVERAL_TIMES: dict[str, Callable[..., Answer]] = {"throughput": throughput}
"""Answers that compare timings of the present package."""

if __name__ == "__main__":
    main()
