"""Networks in BIF files, the format of the Bayesian network repositories.

    network NAME { }
    variable NAME { type discrete [ 2 ] { no, yes }; }
    probability ( X ) { table 0.4, 0.6; }
    probability ( X | A, B ) { (no, low) 0.1, 0.9; ... }

Instead of a row per configuration of the parents, a variable may have one ``table``, in which X
changes slowest and the last parent fastest, and a ``default`` row.  Names and levels are words or
quoted; ``property`` lines and comments are skipped.  Files are often rounded to a few digits: rows
whose sum is within ``SUM_TOLERANCE`` of one are scaled to sum to one, others are refused.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sges.errors import FileError, GraphError, NetworkError, check_instance, check_path, shown
from sges.graph.pdag import PDAG
from sges.network.discrete import BayesianNetwork
from sges.nodeset import nodes
from sges.writing import write_text

SUM_TOLERANCE = 0.01
"""How far the probabilities of a row in a file may differ from one in sum."""

MAX_DEFAULT_CELLS = 1 << 20
"""The most cells of a table that a default row may fill."""

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
    check_instance("network", network, BayesianNetwork, "a BayesianNetwork")
    check_path("path", path)
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
            kind = self._word("'network', 'variable' or 'probability'")
            if kind == "network":
                while self._peek() != "{":
                    self._take()
                self._take("{")
                while self._peek() != "}":
                    self._skip_to_semicolon()
                self._take("}")
            elif kind == "variable":
                self._variable()
            elif kind == "probability":
                self._probability()
            else:
                self._fail("'network', 'variable' or 'probability'", back=1)
        names = list(self._levels)
        if not names:
            raise NetworkError("it declares no variable")
        number = {name: v for v, name in enumerate(names)}
        if strange := [name for name in self._families if name not in number]:
            raise NetworkError(f"{shown(strange[0])} has probabilities, but is not declared")
        edges = []
        for name in names:
            if name not in self._families:
                raise NetworkError(f"the probabilities of {shown(name)} are missing")
            for parent in self._families[name].parents:
                if parent not in number:
                    what = f"the parent {shown(parent)} of {shown(name)}"
                    raise NetworkError(f"{what} is not a variable")
                edges.append((number[parent], number[name]))
        dag = PDAG.from_edges(len(names), edges, names=names)
        cpts = [self._cpt(name, number) for name in names]
        return BayesianNetwork(dag, cpts, levels=list(self._levels.values()))

    def _variable(self) -> None:
        name = self._word("the name of a variable")
        if name in self._levels:
            raise NetworkError(f"the variable {shown(name)} is declared twice")
        self._take("{")
        levels: list[str] | None = None
        while self._peek() != "}":
            what = self._word("'type' or 'property'")
            if what == "type":
                if self._word("'discrete'") != "discrete":
                    self._fail("'discrete'", back=1)
                self._take("[")
                count = self._word("the number of levels")
                self._take("]")
                self._take("{")
                levels = self._words("}", "a level")
                if count != str(len(levels)) or len(set(levels)) < len(levels):
                    raise NetworkError(
                        f"variable {shown(name)} has {len(levels)} levels, {count[:20]} are "
                        "declared, and they must all be different"
                    )
                self._take(";")
            elif what == "property":
                self._skip_to_semicolon()
            else:
                self._fail("'type' or 'property'", back=1)
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
        if self._peek() == "|":
            self._take()
            parents = self._words(")", "the name of a parent")
        else:
            self._take(")")
        family = self._families[name] = _Family(parents)
        self._take("{")
        while self._peek() != "}":
            if self._peek() == "(":
                self._take("(")
                configuration = tuple(self._words(")", "a level"))
                if configuration in family.rows:
                    raise NetworkError(
                        f"variable {shown(name)}: the row of {shown(configuration)} is given twice"
                    )
                family.rows[configuration] = self._numbers()
                continue
            what = self._word("'table', 'default', 'property' or a row")
            if what == "table":
                family.table = self._numbers()
            elif what == "default":
                family.default = self._numbers()
            elif what == "property":
                self._skip_to_semicolon()
            else:
                self._fail("'table', 'default', 'property' or a row", back=1)
        self._take("}")

    def _cpt(self, name: str, number: dict[str, int]) -> NDArray[np.float64]:
        """Return p(variable | parents) with the parents' axes in increasing order."""
        family = self._families[name]
        levels = [self._levels[parent] for parent in family.parents]
        arity = len(self._levels[name])
        shape = [len(labels) for labels in levels]
        if family.table is not None:
            if len(family.table) != prod(shape) * arity:
                raise NetworkError(
                    f"variable {shown(name)}: the table has {len(family.table)} numbers; "
                    f"it must have {prod(shape) * arity:.6g}"
                )
            cpt = np.moveaxis(np.array(family.table).reshape(arity, *shape), 0, -1)
        else:
            self._check_rows(name, family, levels)
            rows = (family.rows.get(key, family.default) for key in product(*levels))
            cpt = np.array(list(rows), dtype=np.float64).reshape(*shape, arity)
        with np.errstate(over="ignore", invalid="ignore"):
            sums = cpt.sum(axis=-1, keepdims=True)
            wrong = ~(np.abs(sums - 1) <= SUM_TOLERANCE)
        if wrong.any():
            raise NetworkError(
                f"variable {shown(name)}: the probabilities of a row add up to "
                f"{float(sums[wrong][0]):.6g}; they must add up to 1, within {SUM_TOLERANCE}"
            )
        order = sorted(range(len(shape)), key=lambda i: number[family.parents[i]])
        scaled: NDArray[np.float64] = (cpt / sums).transpose(*order, len(shape))
        return scaled

    def _check_rows(self, name: str, family: _Family, levels: Sequence[Sequence[str]]) -> None:
        """Check that there is a row of the right length for each configuration."""
        configurations, arity = prod(map(len, levels)), len(self._levels[name])
        for key in family.rows:
            if len(key) != len(levels) or any(
                level not in labels for level, labels in zip(key, levels, strict=True)
            ):
                raise NetworkError(
                    f"variable {shown(name)}: {shown(key)} is not a configuration of its parents"
                )
        for row in [*family.rows.values(), family.default]:
            if row is not None and len(row) != arity:
                raise NetworkError(
                    f"variable {shown(name)}: a row has {len(row)} numbers; it must have {arity}"
                )
        if family.default is not None:
            if configurations * arity > MAX_DEFAULT_CELLS:
                raise NetworkError(
                    f"variable {shown(name)} has too many parents: {configurations:.3g} rows"
                )
        elif len(family.rows) < configurations:
            raise NetworkError(
                f"variable {shown(name)} has {len(family.rows)} rows; "
                f"its parents have {configurations:.6g} configurations"
            )

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> str:
        token = self._peek()
        if not token or (wanted and token != wanted):
            self._fail(f"'{wanted}'" if wanted else "more")
        self._next += 1
        return token

    def _word(self, what: str) -> str:
        token = self._peek()
        if not token or token in '{}()[]|,;"':
            self._fail(what)
        self._next += 1
        return token[1:-1] if token.startswith('"') else token

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
        for word in self._words(";", "a number"):
            try:
                numbers.append(float(word))
            except ValueError:
                self._fail("a number", back=2)
        return numbers

    def _skip_to_semicolon(self) -> None:
        while self._take() != ";":
            pass

    def _fail(self, wanted: str, back: int = 0) -> NoReturn:
        at = self._next - back
        if at >= len(self._tokens):
            raise NetworkError(f"it ends where {wanted} is expected")
        line = self._text.count("\n", 0, self._tokens[at].start()) + 1
        raise NetworkError(f"line {line}: {shown(self._tokens[at][0])} is not {wanted}")


def _lines(network: BayesianNetwork) -> Iterator[str]:
    """Yield the lines of a BIF file."""
    levels = [[str(label) for label in labels] for labels in network.levels]
    for name, labels in zip(network.names, levels, strict=True):
        bad = [word for word in (name, *labels) if not WORD.fullmatch(word)]
        if bad or len(set(labels)) < len(labels):
            raise NetworkError(
                f"variable {shown(name)} cannot be written as BIF: its name and its levels must "
                "be different words of letters, digits and underscores"
            )
    yield "network sges {\n}"
    for name, labels in zip(network.names, levels, strict=True):
        yield f"variable {name} {{"
        yield f"  type discrete [ {len(labels)} ] {{ {', '.join(labels)} }};\n}}"
    for v, cpt in enumerate(network.cpts):
        parents = list(nodes(network.dag.parents(v)))
        above = f" | {', '.join(network.names[p] for p in parents)}" if parents else ""
        yield f"probability ( {network.names[v]}{above} ) {{"
        for key in np.ndindex(cpt.shape[:-1]):
            row = ", ".join(map(repr, cpt[key].tolist()))
            shown_key = ", ".join(levels[p][i] for p, i in zip(parents, key, strict=True))
            yield f"  ({shown_key}) {row};" if parents else f"  table {row};"
        yield "}"
