"""Networks in BIF files, the format of the Bayesian network repositories.

    network NAME { }
    variable NAME { type discrete [ 2 ] { no, yes }; }
    probability ( X ) { table 0.4, 0.6; }
    probability ( X | A, B ) { (no, low) 0.1, 0.9; ... }

Instead of a row per configuration of the parents, a variable may have one ``table``, in which X
changes slowest and the last parent fastest, and a ``default`` row.  Names and levels are words or
quoted; ``property`` lines and comments are skipped.  Files are often rounded to a few digits: rows
whose sum is within ``SUM_TOLERANCE`` of one are scaled to sum to one; others are errors.  Rows that
sum to one within rounding are kept as they are, so a network that was written is read unchanged.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from operator import contains
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sges.errors import FileError, GraphError, NetworkError, check_path, shown
from sges.graph.pdag import PDAG, Edge
from sges.network.discrete import BayesianNetwork, scaled_rows
from sges.nodeset import nodes
from sges.writing import write_text

SUM_TOLERANCE = 0.01  # how far the sum of the probabilities of a row in a file may differ from one
MAX_DEFAULT_CELLS = 1 << 20  # cells of a table that a default row may fill
TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"\n]*"|[{}()\[\]|,;]|[^\s{}()\[\]|,;"]+|\"""", re.DOTALL
)
WORD = re.compile(r"[A-Za-z0-9_]+")


def read_bif(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Return the network of a BIF file, with its names and the labels of its levels.

    Variables are numbered in the order in which the file declares them.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    BayesianNetwork
        The network.

    Raises
    ------
    FileError
        If the file cannot be read.
    NetworkError
        If it is not a BIF file of a network.
    """
    check_path("path", path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError as error:
        raise NetworkError(f"{os.fspath(path)}: is not UTF-8 text ({error.reason})") from None
    try:
        return network_of_bif(text)
    except (NetworkError, GraphError) as error:
        raise NetworkError(f"{os.fspath(path)} is not a BIF file: {error}") from None


def network_of_bif(text: str) -> BayesianNetwork:
    """Return the network of a text in BIF."""
    return _Parser(text).network()


def write_bif(network: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to a BIF file.

    A file at the path is replaced, or left as it was if the network cannot be written.

    Parameters
    ----------
    network : BayesianNetwork
        The network.  BIF allows only letters, digits and underscores in names and levels.
    path : str or path
        The file.

    Raises
    ------
    NetworkError
        If a name or level is not allowed in BIF.
    FileError
        If the file cannot be written.
    """
    write_text(path, "\n".join(_lines(network)) + "\n")


@dataclass
class _Family:
    """The probability block of one variable, as far as it has been read."""

    parents: list[str]
    rows: dict[tuple[str, ...], list[float]] = field(default_factory=dict)
    table: list[float] | None = None
    default: list[float] | None = None


class _Parser:
    """Reads a BIF file token by token, by recursive descent."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [m for m in TOKEN.finditer(text) if not m[0].startswith(("//", "/*"))]
        self._next = 0
        self._levels: dict[str, list[str]] = {}
        self._families: dict[str, _Family] = {}

    def network(self) -> BayesianNetwork:
        """Return the network of the whole text."""
        while self._next < len(self._tokens):
            kind = self._keyword("network", "variable", "probability")
            if kind == "variable":
                self._variable()
            elif kind == "probability":
                self._probability()
            else:
                self._skip_to("{")
                while self._peek() != "}":
                    self._skip_to(";")
                self._take("}")
        number = {name: v for v, name in enumerate(self._levels)}
        dag = PDAG.from_edges(len(number), self._edges(number), names=list(number))
        cpts = [self._cpt(name, number) for name in number]
        return BayesianNetwork(dag, cpts, levels=list(self._levels.values()))

    def _edges(self, number: dict[str, int]) -> list[Edge]:
        """Return the edges; check that each variable is declared and has probabilities."""
        if not number:
            raise NetworkError("it declares no variables")
        if strange := [name for name in self._families if name not in number]:
            raise NetworkError(f"{shown(strange[0])} has probabilities, but is not declared")
        edges = []
        for name, v in number.items():
            if name not in self._families:
                raise NetworkError(f"the probabilities of {shown(name)} are missing")
            for parent in self._families[name].parents:
                if parent not in number:
                    what = f"the parent {shown(parent)} of {shown(name)}"
                    raise NetworkError(f"{what} is not a variable")
                edges.append((number[parent], v))
        return edges

    def _variable(self) -> None:
        name = self._word("the name of a variable")
        if name in self._levels:
            raise NetworkError(f"the variable {shown(name)} is declared twice")
        self._take("{")
        levels: list[str] = []
        while self._peek() != "}":
            if self._keyword("type", "property") == "property":
                self._skip_to(";")
                continue
            self._keyword("discrete")
            self._take("[")
            count = self._word("the number of levels")
            self._take("]")
            self._take("{")
            levels = self._words("}", "a level")
            if count != str(len(levels)) or len(set(levels)) < len(levels):
                raise NetworkError(
                    f"variable {shown(name)} has {len(levels)} levels, and {count[:20]} are "
                    "declared; the numbers must be equal, and the levels all different"
                )
            self._take(";")
        self._take("}")
        if not levels:
            raise NetworkError(f"variable {shown(name)} has no levels")
        self._levels[name] = levels

    def _probability(self) -> None:
        self._take("(")
        name = self._word("the name of a variable")
        if name in self._families:
            raise NetworkError(f"the probabilities of {shown(name)} are given twice")
        parents = []
        if self._take("|", ")") == "|":
            parents = self._words(")", "the name of a parent")
        family = self._families[name] = _Family(parents)
        self._take("{")
        while self._peek() != "}":
            if self._peek() == "(":
                self._take("(")
                configuration = tuple(self._words(")", "a level"))
                if configuration in family.rows:
                    row = f"the row of {shown(configuration)}"
                    raise NetworkError(f"variable {shown(name)}: {row} is given twice")
                family.rows[configuration] = self._numbers()
                continue
            what = self._keyword("table", "default", "property", other="a row")
            if what == "table":
                family.table = self._numbers()
            elif what == "default":
                family.default = self._numbers()
            else:
                self._skip_to(";")
        self._take("}")

    def _cpt(self, name: str, number: dict[str, int]) -> NDArray[np.float64]:
        """Return p(variable | parents) with the parents' axes in increasing order."""
        family, what = self._families[name], f"variable {shown(name)}"
        levels = [self._levels[parent] for parent in family.parents]
        arity = len(self._levels[name])
        shape = [len(labels) for labels in levels]
        if family.table is not None:
            if len(family.table) != prod(shape) * arity:
                rule = f"it must have {prod(shape) * arity:.6g}"
                raise NetworkError(f"{what}: the table has {len(family.table)} numbers; {rule}")
            cpt = np.moveaxis(np.array(family.table).reshape(arity, *shape), 0, -1)
        else:
            _check_rows(what, family, levels, arity)
            rows = (family.rows.get(key, family.default) for key in product(*levels))
            cpt = np.array(list(rows), dtype=np.float64).reshape(*shape, arity)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = cpt.sum(axis=-1, keepdims=True)
            wrong = ~(np.abs(sums - 1) <= SUM_TOLERANCE)
        if wrong.any():
            raise NetworkError(
                f"{what}: the probabilities of a row add up to {float(sums[wrong][0]):.6g}; "
                f"they must add up to 1, within {SUM_TOLERANCE}"
            )
        order = sorted(range(len(shape)), key=lambda i: number[family.parents[i]])
        return scaled_rows(cpt).transpose(*order, len(shape))

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _take(self, *wanted: str) -> str:
        """Return the next token, which must be one of those wanted; the last is the usual one."""
        token = self._peek()
        if not token or (wanted and token not in wanted):
            self._fail(f"'{wanted[-1]}'" if wanted else "more")
        self._next += 1
        return token

    def _word(self, what: str, allowed: Sequence[str] = ()) -> str:
        """Return the next token without its quotes; ``what`` says what it should be."""
        token = self._peek()
        word = token[1:-1] if token.startswith('"') else token
        if not token or token in '{}()[]|,;"' or (allowed and word not in allowed):
            self._fail(what)
        self._next += 1
        return word

    def _keyword(self, *allowed: str, other: str = "") -> str:
        *first, last = [*(f"'{word}'" for word in allowed), *([other] if other else [])]
        return self._word(f"{', '.join(first)} or {last}" if first else last, allowed)

    def _words(self, end: str, what: str) -> list[str]:
        """Return words up to the end, with or without commas between them."""
        words = []
        while self._peek() != end:
            words.append(self._word(what))
            if self._peek() == ",":
                self._take()
        self._take(end)
        return words

    def _numbers(self) -> list[float]:
        numbers = []
        while self._peek() != ";":
            try:
                numbers.append(float(self._peek().strip('"')))
            except ValueError:
                self._fail("a number")
            self._next += 1
            if self._peek() == ",":
                self._take()
        self._take(";")
        return numbers

    def _skip_to(self, end: str) -> None:
        while self._take() != end:
            pass

    def _fail(self, wanted: str) -> NoReturn:
        if not self._peek():
            raise NetworkError(f"unexpected end of file; expected {wanted}")
        line = self._text.count("\n", 0, self._tokens[self._next].start()) + 1
        raise NetworkError(f"line {line}: {shown(self._peek())} is not {wanted}")


def _check_rows(what: str, family: _Family, levels: Sequence[Sequence[str]], arity: int) -> None:
    """Check that there is a row of the right length for each configuration."""
    configurations = prod(map(len, levels))
    for key, row in family.rows.items():
        if len(key) != len(levels) or not all(map(contains, levels, key)):
            raise NetworkError(f"{what}: {shown(key)} is not a configuration of its parents")
        if len(row) != arity:
            raise NetworkError(f"{what}: a row has {len(row)} numbers; it must have {arity}")
    if family.default is None:
        if len(family.rows) < configurations:
            rule = f"its parents have {configurations:.6g} configurations"
            raise NetworkError(f"{what} has {len(family.rows)} rows; {rule}")
    elif len(family.default) != arity:
        length = len(family.default)
        raise NetworkError(f"{what}: a row has {length} numbers; it must have {arity}")
    elif configurations * arity > MAX_DEFAULT_CELLS:
        raise NetworkError(f"{what} has too many parents: {configurations:.3g} rows")


def _lines(network: BayesianNetwork) -> Iterator[str]:
    """Yield the lines of a BIF file."""
    levels = [[str(label) for label in labels] for labels in network.levels]
    for name, labels in zip(network.names, levels, strict=True):
        if len(set(labels)) < len(labels) or not all(map(WORD.fullmatch, (name, *labels))):
            raise NetworkError(
                f"variable {shown(name)} cannot be written as BIF: its name and its levels must "
                "be different words of letters, digits and underscores"
            )
    yield "network sges {\n}"
    for name, labels in zip(network.names, levels, strict=True):
        yield f"variable {name} {{"
        yield f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};\n}}"
    yield from _table_lines(network, levels)


def _table_lines(network: BayesianNetwork, levels: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the distributions of the variables."""
    for v, cpt in enumerate(network.cpts):
        parents = list(nodes(network.dag.parents(v)))
        above = f" | {', '.join(network.names[p] for p in parents)}" if parents else ""
        yield f"probability ( {network.names[v]}{above} ) {{"
        keys = product(*(levels[p] for p in parents))  # the last parent changes fastest
        for key, row in zip(keys, cpt.reshape(-1, cpt.shape[-1]).tolist(), strict=True):
            numbers = ", ".join(map(repr, row))
            yield f"  ({', '.join(key)}) {numbers};" if parents else f"  table {numbers};"
        yield "}"
