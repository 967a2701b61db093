"""How often each finding of ``inspect`` is a false alarm, and how often it finds its defect.

    python scripts/findings.py [TABLES] [SEED]

inspects this many clean tables of each kind (500 by default), and tables with each defect, and
prints a table in Markdown: the share of all clean tables with a false alarm, the kind of table with
the most, and the share of the tables with the defect in which it is found.  A clean table has at
least 50 rows, and ten for each column and each cell of two discrete columns, unless it is wide.
"""

import string
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

from sges.data import inspect

Draw: TypeAlias = np.random.Generator
Frame: TypeAlias = dict[str, Any]
"""The columns of a table; one named "w" holds weights."""


# Clean tables


def size(draw: Draw, least: float = 50, most: float = 5_000) -> int:
    """Return a number of rows, small ones as often as large ones."""
    return int(np.exp(draw.uniform(np.log(max(least, 50)), np.log(max(least, most)))))


def linear(draw: Draw, rows: int, columns: int) -> np.ndarray:
    """Return columns of a sparse linear model: parents explain at most half of a column."""
    values = draw.normal(size=(columns, rows))
    for v in range(1, columns):
        parents = draw.choice(v, min(v, int(draw.integers(0, 3))), replace=False)
        # Few children each, so that no column is nearly a function of its children.
        parents = parents[parents >= v - 4]
        share = draw.uniform(0.1, 0.5)
        if len(parents):
            signs = draw.choice([-1.0, 1.0], len(parents))
            cause = signs @ values[parents]
            values[v] = np.sqrt(share) * cause / cause.std() + np.sqrt(1 - share) * values[v]
    return values


def named(values: Any) -> Frame:  # noqa: ANN401 (rows of any type)
    """Return a table with these columns."""
    return {f"c{i}": row for i, row in enumerate(values)}


def gaussian(draw: Draw) -> Frame:
    """Return a sparse linear Gaussian table."""
    columns = int(draw.integers(3, 20))
    return named(linear(draw, size(draw, 10 * columns), columns))


def wide(draw: Draw) -> Frame:
    """Return a linear Gaussian table with about as many columns as rows, or more."""
    rows = size(draw, 50, 200)
    return named(linear(draw, rows, int(rows * draw.uniform(0.8, 2))))


def levels(draw: Draw, rows: int, arity: int, columns: int) -> list[np.ndarray]:
    """Return columns of a discrete network in which every level has a share of at least 0.5 / k."""
    made: list[np.ndarray] = []
    for v in range(columns):
        parent = made[int(draw.integers(v))] if v and draw.random() < 0.7 else np.zeros(rows, int)
        shares = 0.5 / arity + 0.5 * draw.dirichlet(np.ones(arity), arity)
        made.append((draw.random(rows)[:, None] > shares.cumsum(axis=1)[parent]).sum(axis=1))
    return [column.clip(0, arity - 1) for column in made]


def discrete(draw: Draw) -> Frame:
    """Return a discrete table, of integers or texts."""
    arity, columns = int(draw.integers(2, 6)), int(draw.integers(2, 15))
    made = levels(draw, size(draw, 10 * max(arity**2, columns)), arity, columns)
    if draw.random() < 0.5:
        return named(made)
    return named(np.array(list("ABCDE"))[column] for column in made)


def mixed(draw: Draw) -> Frame:
    """Return a table with Gaussian columns c0, c1, ... and discrete columns d0, d1, ..."""
    arity, columns = int(draw.integers(2, 6)), int(draw.integers(2, 8))
    rows = size(draw, 10 * max(arity**2, 2 * columns))
    made = levels(draw, rows, arity, columns)
    values = linear(draw, rows, columns)
    for v in range(columns):  # means of a column that depend on one discrete column each
        values[v] += draw.normal(0, 0.5, arity)[made[v]]
    return {**named(values), **{f"d{i}": column for i, column in enumerate(made)}}


def rounded(draw: Draw) -> Frame:
    """Return a Gaussian table with rounded values."""
    return {
        name: np.round(row * draw.uniform(3, 30)).astype(int)
        for name, row in gaussian(draw).items()
    }


def counts(draw: Draw) -> Frame:
    """Return numbers of events, Poisson or overdispersed, of which a part is shared."""
    columns, mean = int(draw.integers(3, 12)), np.exp(draw.uniform(np.log(2), np.log(50)))
    rows, made = size(draw, 10 * columns), []
    is_poisson = draw.random() < 0.5
    for _ in range(columns):
        rate = mean if is_poisson else draw.gamma(4.0, mean / 4.0, rows)
        made.append(draw.poisson(rate, rows))
        if len(made) > 1 and draw.random() < 0.5:
            made[-1] += draw.binomial(made[-2], 0.5)
    return named(made)


def skewed(draw: Draw) -> Frame:
    """Return independent lognormal, exponential and Student columns."""
    columns = int(draw.integers(3, 20))
    rows = size(draw, 10 * columns)
    makers = (draw.lognormal, draw.exponential, lambda size: draw.standard_t(3, size))
    return named(makers[int(draw.integers(3))](size=rows) for _ in range(columns))


def any_of(draw: Draw) -> Frame:
    """Return a table without holes or weights."""
    return (gaussian, discrete, mixed, rounded, counts)[int(draw.integers(5))](draw)


def with_holes(draw: Draw) -> Frame:
    """Return any table with values deleted completely at random."""
    table = {
        name: pd.Series(column, dtype=object)
        for name, column in (skewed if draw.random() < 0.2 else any_of)(draw).items()
    }
    some = draw.choice(list(table), int(draw.integers(1, len(table) + 1)), replace=False)
    for name in some:
        table[name][draw.random(len(table[name])) < draw.uniform(0.01, 0.3)] = None
    return dict(pd.DataFrame(table).infer_objects().items())


def many_levels_with_holes(draw: Draw) -> Frame:
    """Return discrete columns with up to 60 levels, some rare, and values deleted at random."""
    rows, columns = size(draw, 200, 2_000), int(draw.integers(5, 40))
    table = {}
    for i in range(columns):
        arity = int(draw.integers(2, 61))
        codes = draw.choice(arity, rows, p=draw.dirichlet(np.ones(arity)))
        column = np.array([f"L{k}" for k in range(arity)], object)[codes]
        column[draw.random(rows) < draw.uniform(0, 0.1)] = None
        table[f"c{i}"] = column
    return table


def weighted(draw: Draw) -> Frame:
    """Return any table with survey weights, or a discrete one whose equal rows were merged."""
    if draw.random() < 0.5:
        table = any_of(draw)
        return {**table, "w": draw.gamma(4.0, 0.25, len(next(iter(table.values()))))}
    table = with_holes(draw) if draw.random() < 0.5 else discrete(draw)
    frame = pd.DataFrame(table)
    return dict(frame.groupby(list(frame), dropna=False).size().reset_index(name="w").items())


def numbered(draw: Draw) -> Frame:
    """Return a table with a column that numbers its rows."""
    table = gaussian(draw) if draw.random() < 0.5 else wide(draw)
    return {"number": np.arange(len(table["c0"])), **table}


CLEAN: dict[str, Callable[[Draw], Frame]] = {
    "Gaussian": gaussian, "discrete": discrete, "mixed": mixed, "rounded": rounded,
    "counts": counts, "skewed": skewed, "missing": with_holes,
    "many levels, missing": many_levels_with_holes, "weighted": weighted, "wide": wide,
    "numbered rows": numbered,
}  # fmt: skip

FEWER = {"few rows", "few rows per column", "few rows per cell", "rare levels"}

TRUE = {
    "skewed": {"skew and heavy tails"},
    "missing": FEWER | {"skew and heavy tails"},
    "weighted": FEWER | {"skew and heavy tails"},  # effective records are fewer than rows
    "wide": {"fewer rows than columns", "few rows per column"},
    "numbered rows": {"fewer rows than columns", "few rows per column", "row numbers"},
    "many levels, missing": {"few rows per column", "few rows per cell", "rare levels",
                             "nearly constant columns"},
    "counts": {"rare levels", "few rows per cell"},  # small counts are read as levels
}  # fmt: skip
"""Findings that are true of a kind of table by construction: these are not false alarms."""


# Tables with a defect: any table, with one column changed or added


def depending(draw: Draw) -> Frame:
    """Delete 30% of a column where another is high or has one level, 5% elsewhere."""
    table = mixed(draw)
    other = table["c0"] > np.median(table["c0"]) if draw.random() < 0.5 else table["d0"] == 0
    chance = np.where(other, 0.3, 0.05)
    holes = np.where(draw.random(len(chance)) < chance, np.nan, table["c1"])
    return {**table, "c1": holes}


def coded(draw: Draw) -> Frame:
    """Replace 3% of a column by 99, 999, -9, -99 or -999: a scale of 1 to 5, or fractions."""
    table = mixed(draw)
    rows = len(table["c0"])
    code = int(draw.choice([99, 999, -9, -99, -999]))
    column = draw.integers(1, 6, rows) if draw.random() < 0.5 else draw.gamma(4.0, 1.0, rows)
    gone = draw.random(rows) < 0.03
    gone[:2] = True
    return {**table, "new": np.where(gone, code, column)}


def cross_table(draw: Draw) -> Frame:
    """Return a table of all combinations of levels with their frequencies."""
    shape = draw.integers(2, 5, 3)
    cells = np.indices(shape.tolist()).reshape(3, -1)
    return {**named(cells), "Freq": draw.poisson(20, cells.shape[1])}


def matrix(draw: Draw) -> Frame:
    """Return a matrix of correlations."""
    return named(np.corrcoef(linear(draw, 500, int(draw.integers(4, 30)))))


def added(make: Callable[[Draw], Frame], change: Callable[[Draw, Frame], Any]) -> Any:  # noqa: ANN401
    """Return a maker of tables with a column "new" that is computed from the others."""

    def table(draw: Draw) -> Frame:
        columns = make(draw)
        return {**columns, "new": change(draw, columns)}

    return table


def noise(draw: Draw, table: Frame) -> np.ndarray:
    """Return a Gaussian column."""
    return draw.normal(size=len(table["c0"]))


def one_factor(draw: Draw) -> Frame:
    """Return columns that measure one quantity."""
    columns = int(draw.integers(6, 20))
    rows = size(draw, 20 * columns)
    loading = draw.uniform(0.6, 0.9, (columns, 1))
    errors = draw.normal(size=(columns, rows)) * np.sqrt(1 - loading**2)
    return named(loading * draw.normal(size=rows) + errors)


def series(draw: Draw) -> Frame:
    """Return columns of which each has a correlation of 0.7 with its value one row before."""
    table = gaussian(draw)
    for row in table.values():
        for i in range(1, len(row)):
            row[i] = 0.7 * row[i - 1] + np.sqrt(0.51) * row[i]
    return table


def few(rows: tuple[int, int], columns: tuple[int, int]) -> Callable[[Draw], Frame]:
    """Return a maker of Gaussian tables with a number of rows and columns in these ranges."""
    return lambda draw: named(linear(draw, int(draw.integers(*rows)), int(draw.integers(*columns))))


def repeated(draw: Draw) -> Frame:
    """Return a table in which 2% of the rows occur twice."""
    table = gaussian(draw)
    rows = len(table["c0"])
    again = np.concatenate([np.arange(rows), draw.choice(rows, 1 + rows // 50, replace=False)])
    return {name: column[again] for name, column in table.items()}


def texts(draw: Draw, table: Frame, values: Any) -> np.ndarray:  # noqa: ANN401
    """Return these texts, one for each row in random order."""
    return np.array(values, object)[draw.integers(0, len(values), len(table["c0"]))]


def infinite(draw: Draw, table: Frame) -> np.ndarray:
    """Return a column with an infinite value."""
    values = noise(draw, table)
    values[0] = np.inf
    return values


def zeros(draw: Draw, table: Frame) -> np.ndarray:
    """Return a column of fractions in which a quarter of the values are zero."""
    return np.where(draw.random(len(table["c0"])) < 0.25, 0.0, draw.gamma(3, size=len(table["c0"])))


def rare_level(draw: Draw, table: Frame) -> np.ndarray:
    """Return a column in which one of four levels has three records."""
    codes = draw.integers(0, 3, len(table["d0"]))
    codes[:3] = 3
    return np.array(list("abcd"))[codes]


DEFECTS: dict[str, tuple[str, Callable[[Draw], Frame]]] = {
    "missing values": ("5% missing", added(gaussian, lambda d, t: np.where(
        d.random(len(t["c0"])) < 0.05, np.nan, noise(d, t)))),
    "missing values that depend on other columns": ("30% missing where another is high or has one "
        "level, else 5%", depending),
    "codes for missing values": ("3% are 99, 999, -9, -99 or -999, in a scale of 1 to 5 or in "
        "fractions", coded),
    "levels that look alike": ("'yes', 'Yes' and 'no '", added(mixed, lambda d, t: texts(
        d, t, ["yes", "Yes", "no", "no "]))),
    "counts": ("all combinations of levels with a frequency", cross_table),
    "matrix": ("correlations", matrix),
    "columns without values": ("a column of None", added(
        gaussian, lambda _, t: np.full(len(t["c0"]), np.nan))),
    "identifiers": ("a different text in each row", added(gaussian, lambda _, t: [
        f"person {i}" for i in range(len(t["c0"]))])),
    "unusable columns": ("an infinite value", added(gaussian, infinite)),
    "numbers read as levels": ("numbers and '?'", added(gaussian, lambda d, t: texts(
        d, t, [*map(str, range(30)), "?"]))),
    "duplicated columns": ("the same levels under other names", added(
        mixed, lambda _, t: np.array(list("vwxyz"))[t["d0"]])),
    "deterministic columns": ("a threshold or an increasing function of a column", added(
        mixed, lambda d, t: t["c0"] > np.median(t["c0"]) if d.random() < 0.5 else np.exp(t["c0"]))),
    "collinear columns": ("a sum of two columns, noise 0.3% of its variance", added(
        gaussian, lambda d, t: (x := t["c0"] + t["c1"]) + 0.055 * x.std() * noise(d, t))),
    "nearly determined columns": ("the sum of two columns of 0 to 4", added(
        lambda d: named(d.integers(0, 5, (2, size(d, 250)))), lambda _, t: t["c0"] + t["c1"])),
    "strongly related columns": ("a sum of two columns, noise 5% of its variance", added(
        gaussian, lambda d, t: (x := t["c0"] + t["c1"]) + 0.23 * x.std() * noise(d, t))),
    "common factor": ("6 to 20 columns with loadings of 0.6 to 0.9", one_factor),
    "skew and heavy tails": ("a lognormal column", added(
        gaussian, lambda d, t: np.exp(noise(d, t)))),
    "dependent rows": ("correlation 0.7 with the row before", series),
    "nearly constant columns": ("two records with another value", added(
        gaussian, lambda _, t: np.arange(len(t["c0"])) < 2)),
    "piled-up values": ("25% zeros in a column of fractions", added(gaussian, zeros)),
    "curved relations": ("x² + noise with a third of its variance", added(
        gaussian, lambda d, t: t["c0"] ** 2 + noise(d, t))),
    "fewer rows than columns": ("20 to 40 rows", few((20, 40), (40, 80))),
    "few rows per column": ("50 to 100 rows", few((50, 100), (15, 40))),
    "few rows": ("20 to 49 rows of 2 columns", few((20, 50), (2, 3))),
    "few rows per cell": ("two columns with 10 levels, 50 to 400 rows", lambda d: named(
        texts(d, {"c0": range(rows)}, list(string.ascii_letters[:10]))
        for rows in [int(d.integers(50, 400))] * 2)),
    "nearly a level per row": ("two rows for three levels", added(gaussian, lambda d, t: texts(
        d, t, [f"p{i}" for i in range(3 * len(t["c0"]))]))),
    "rare levels": ("a level with 3 records", added(mixed, rare_level)),
    "repeated rows": ("2% of the rows twice", repeated),
}  # fmt: skip


def topics(table: Frame) -> tuple[set[str], set[str]]:
    """Return the topics that are found in a table, and the serious ones."""
    found = inspect(pd.DataFrame(table), weights="w" if "w" in table else None).findings
    said, serious = {f.topic for f in found}, {f.topic for f in found if f.serious}
    if any("depends on other columns" in f.what for f in found):
        said.add("missing values that depend on other columns")
    return said, serious


def main(tables: int = 500, seed: int = 0) -> None:
    """Print the shares of false alarms and of defects that are found."""
    alarms: dict[str, Counter[str]] = {kind: Counter() for kind in CLEAN}
    for k, (kind, make) in enumerate(CLEAN.items()):
        true = {"missing values"} | TRUE.get(kind, set())
        for i in range(tables):
            table = make(np.random.default_rng([seed, k, i]))
            said, serious = topics(table)
            alarms[kind].update(said - true)
            alarms[kind]["any serious finding"] += bool(serious - true)
    print("| finding | false alarms, all kinds | at most, by kind | defect | found |")
    print("| --- | --- | --- | --- | --- |")
    unknown = {topic for found in alarms.values() for topic in found} - set(DEFECTS)
    for k, topic in enumerate([*DEFECTS, *sorted(unknown)]):
        total = sum(found[topic] for found in alarms.values()) / (tables * len(CLEAN))
        worst = max(alarms, key=lambda kind: alarms[kind][topic])
        most = alarms[worst][topic] / tables
        what, power = "", ""
        if topic in DEFECTS:
            what, make = DEFECTS[topic]
            draws = [np.random.default_rng([seed, 99, k, i]) for i in range(tables)]
            power = f"{sum(topic in topics(make(draw))[0] for draw in draws) / tables:.1%}"
        by_kind = f"{most:.1%} ({worst})" if most else "0"
        print(f"| {topic} | {total:.2%} | {by_kind} | {what} | {power} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
