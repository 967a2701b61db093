"""The base class of networks: a DAG, the names of its variables, and samples."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sges.data import Dataset, Kind
from sges.data.dataset import as_dataset, check_no_missing
from sges.data.tables import names_of
from sges.errors import (
    DataError,
    InvalidArgument,
    NetworkError,
    as_numbers,
    check_seed,
    is_number,
    shown,
    suggestion,
)
from sges.graph.pdag import PDAG
from sges.network.structures import Seed

Floats: TypeAlias = NDArray[np.float64]
Levels: TypeAlias = Sequence[tuple[Any, ...] | None]
"""The levels of each discrete variable; None for a continuous one."""

Drawn: TypeAlias = tuple[Floats, NDArray[np.unsignedinteger[Any]], tuple[Any, ...]]
"""Continuous variables, the codes of discrete ones, and the levels of each variable or None."""


class Network:
    """A DAG with a distribution of each variable given its parents."""

    dag: PDAG

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.dag.n

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the variables: those of the DAG, or x0, x1, ..."""
        return self.dag.names or tuple(f"x{v}" for v in range(self.n))

    def sample(self, m: int, seed: Seed = 0) -> Dataset:
        """Return independent records drawn from the network.

        Parameters
        ----------
        m : int
            The number of records.
        seed : int or numpy.random.Generator, optional
            The source of randomness.

        Returns
        -------
        Dataset
            A table with the names of the variables, and with their levels if they are discrete.
        """
        if not (is_number(m) and 0 <= m < 1 << 47):
            raise NetworkError(f"a sample of {shown(m)} records: the number must be 0 or more")
        check_seed(seed)
        values, codes, levels = self._draw(int(m), np.random.default_rng(seed))
        kinds = tuple(Kind.CONTINUOUS if labels is None else Kind.DISCRETE for labels in levels)
        return Dataset(self.names, kinds, levels, values, codes)

    def log_probability(self, rows: Any) -> Floats:  # noqa: ANN401 (any table for Dataset.of)
        """Return the log-probability of each row, or its log-density.

        Parameters
        ----------
        rows : array_like, table or Dataset
            Numbers, or the numbers of levels, one variable per position in the last axis; or a
            table of two rows or more, whose columns are matched by name, and levels by label.

        Returns
        -------
        ndarray
            One number per row; −∞ for a row that is impossible.
        """
        raise NotImplementedError

    def _draw(self, m: int, rng: np.random.Generator) -> Drawn:
        """Return m records."""
        raise NotImplementedError

    def _columns(self, rows: Any, levels: Levels, what: str) -> Floats:  # noqa: ANN401
        """Return one row per variable of a table, as ``columns_of_table`` does."""
        kinds = ["continuous" if labels is None else "discrete" for labels in levels]
        named = dict(zip(self.names, kinds, strict=True))
        table = as_dataset(rows, columns=self.names, kinds=named)
        at = columns_of(self.dag.named(self.names), table.names)
        return columns_of_table(table, at, levels, what)

    def _number_of(self, name: object) -> int:
        """Return the number of a variable; raise an error if the name does not exist."""
        if not isinstance(name, str) or name not in self.names:
            hint = suggestion(name, self.names, "the variables")
            raise NetworkError(f"there is no variable {shown(name)}; {hint}")
        return self.names.index(name)

    def _by_number(self, given: object) -> dict[int, Any]:
        """Return values that are given by name, by the numbers of the variables."""
        if given is not None and not isinstance(given, Mapping):
            what = f"given = {shown(given)}"
            raise InvalidArgument(f'{what}: it must be a mapping such as {{"a": 1}}')
        return {self._number_of(name): value for name, value in (given or {}).items()}


def is_array(rows: Any) -> bool:  # noqa: ANN401 (any table for Dataset.of)
    """Return whether rows are numbers by position, rather than a table with named columns."""
    if isinstance(rows, str) or getattr(getattr(rows, "dtype", None), "names", None):
        return False
    return isinstance(rows, Sequence | Real) or (hasattr(rows, "__array__") and not names_of(rows))


def given_number(name: str, value: object) -> float:
    """Return the given value of a continuous variable; raise an error if it is not a number."""
    number = as_numbers(f"given[{name!r}]", value)
    if number.size != 1 or not np.isfinite(number).all():
        raise InvalidArgument(f"given[{name!r}] = {shown(value)}: it must be a finite number")
    return float(number.item())


def level_code(label: object, levels: Sequence[Any], name: str) -> int:
    """Return the number of a level: the label itself, or the text of one."""
    for number, level in enumerate(levels):
        if label in (level, str(level)):
            return number
    raise NetworkError(
        f"variable {name!r} has no level {shown(label)}; its levels are "
        f"{', '.join(map(repr, levels))}"
    )


def columns_of(graph: PDAG, names: Sequence[str]) -> list[int]:
    """Return the column of each node: by name if the graph has names, else by position."""
    if graph.names is None:
        if len(names) != graph.n:
            raise DataError(
                f"the number of nodes is {graph.n}, but the number of columns of the data is "
                f"{len(names)}; they must be equal"
            )
        return list(range(graph.n))
    place = {name: i for i, name in enumerate(names)}
    for name in graph.names:
        if name not in place:
            hint = suggestion(name, names, "the columns")
            raise DataError(f"the data have no column {name!r}; {hint}")
    return [place[name] for name in graph.names]


def columns_of_table(table: Dataset, at: Sequence[int], levels: Levels, what: str) -> Floats:
    """Return one row per variable: its values, or the codes of its levels in ``levels``."""
    check_no_missing(table, what)
    columns = np.empty((len(at), table.rows))
    for column, i, labels in zip(columns, at, levels, strict=True):
        if labels is not None:
            column[:] = _coded_column(table, i, labels)
        elif table.levels[i] is None:
            column[:] = table.values[table.continuous.index(i)]
        else:
            raise DataError(f"column {table.names[i]!r} is discrete; it must be continuous")
    return columns


def _coded_column(table: Dataset, at: int, labels: Sequence[Any]) -> NDArray[np.intp]:
    """Return a discrete column of a table as positions of its levels in ``labels``."""
    present = table.levels[at]
    if present is None:
        raise DataError(f"column {table.names[at]!r} is continuous; it must be discrete")
    number = {label: code for code, label in enumerate(labels)}
    if strange := [label for label in present if label not in number]:
        raise DataError(
            f"column {table.names[at]!r} has the level {strange[0]!r}; "
            f"its levels in the network are {tuple(labels)}"
        )
    translation = np.array([number[label] for label in present], dtype=np.intp)
    codes: NDArray[np.intp] = translation[table.codes[table.discrete.index(at)]]
    return codes


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 edge" or "2 edges"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
