"""Descriptions of tables before a search: the results of ``Dataset.describe`` and ``inspect``."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from textwrap import wrap
from typing import Any

from sges.data.reading import Kind
from sges.display import Rows, cut, display_width, padded, printable, shortened
from sges.errors import in_shell, need
from sges.toolbox import tool

WIDTH = 80
"""The default width of the text, in characters."""

MIN_WIDTH = 40
"""The least width for which the text is laid out."""

MIN_FACTS_WIDTH = 24
"""With less room beside its name, the facts of a column are on the next line."""

MAX_FACTS_LINES = 2
"""The facts of a column take this many lines at most."""

MAX_COLUMNS_SHOWN = 40
"""The text has a line for each of this many columns, and counts the others."""

MAX_LEVELS_SHOWN = 4
"""The text names this many levels of a discrete column, the most frequent ones."""


@dataclass(frozen=True, slots=True, repr=False)
class ColumnFacts:
    """Facts about one column.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : Kind
        Continuous or discrete.
    why : str
        The reason for the kind: the type of the values, and how many there are.
    missing : int
        The number of rows without a value.
    distinct : int
        The number of distinct values that occur.
    mean, deviation, minimum, maximum, skewness, kurtosis : float, optional
        Of a continuous column: moments and range of the observed values.  The standard deviation
        has the divisor n - 1, and the kurtosis is that in excess of a Gaussian's.
    levels : tuple of (label, share) pairs
        Of a discrete column: the levels and their shares of the records, the most frequent first.
    """

    name: str
    kind: Kind
    why: str
    missing: int
    distinct: int
    mean: float | None = None
    deviation: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    skewness: float | None = None
    kurtosis: float | None = None
    levels: tuple[tuple[Any, float], ...] = ()

    _heads = ("", "kind", "missing", "values")

    def _cells(self) -> tuple[str, ...]:
        missing = f"{self.missing:,}" if self.missing else ""
        return printable(self.name), str(self.kind), missing, printable(self.in_words())

    def __repr__(self) -> str:
        name, kind, missing, values = self._cells()
        return f"{name}: {kind}, {f'{missing} missing, ' if missing else ''}{values}"

    def to_dict(self) -> dict[str, Any]:
        """Return the facts as JSON values, without those of the other kind of column."""
        facts = {field.name: getattr(self, field.name) for field in fields(self)[:-1]}
        facts["kind"] = str(self.kind)
        if self.kind is Kind.CONTINUOUS:
            return facts
        is_plain = str | int | float | bool | None  # what JSON can hold
        levels = [
            {"level": label if isinstance(label, is_plain) else str(label), "share": share}
            for label, share in self.levels
        ]
        return {**dict(list(facts.items())[:5]), "levels": levels}

    def in_words(self) -> str:
        """Return the range, mean and deviation of the values, or the most frequent levels."""
        return self._range() if self.kind is Kind.CONTINUOUS else self._frequent_levels()

    def _range(self) -> str:
        if self.minimum is None or self.maximum is None:
            return "no values"
        if self.minimum == self.maximum:
            return f"always {self.minimum:.4g}"
        integers = f", {self.distinct:,} integers" if self.why.startswith("integers") else ""
        low, high = self.minimum, self.maximum
        digits = next(d for d in range(4, 18) if f"{low:.{d}g}" != f"{high:.{d}g}")
        return (
            f"{low:.{digits}g} to {high:.{digits}g}, mean {self.mean:.{digits}g}, "
            f"sd {self.deviation:.3g}{integers}"
        )

    def _frequent_levels(self) -> str:
        shown = ", ".join(
            f"{'(missing)' if label is None else label} {share:.0%}"
            for label, share in self.levels[:MAX_LEVELS_SHOWN]
        )
        more = len(self.levels) - MAX_LEVELS_SHOWN
        what = self.why.partition(",")[0].removesuffix("s")
        what = "level" if what == "text" else what
        what = f"{self.distinct:,} {what}{'' if self.distinct == 1 else 's'}"
        return f"{what}: {shown}" + (f", {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """Something about a table that matters for a search.

    Parameters
    ----------
    topic : str
        What kind of finding it is, in a word or two, such as "collinear".
    serious : bool
        Whether it can change most of a graph, or make its edges meaningless.
    columns : tuple of str
        The columns that it is about.
    what : str
        What was seen.
    advice : str
        What it means for the search, and the option that helps.  ``sges.errors.in_shell`` puts it
        in the terms of the command line.
    """

    topic: str
    serious: bool
    columns: tuple[str, ...]
    what: str
    advice: str

    def __repr__(self) -> str:
        return printable(f"{self.topic}: {self.what} {self.advice}")

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as JSON values; messages name the options of the command line."""
        words = {"what": in_shell(self.what), "advice": in_shell(self.advice)}
        columns = list(self.columns)
        return {"topic": self.topic, "serious": self.serious, "columns": columns, **words}


@dataclass(frozen=True, slots=True, repr=False)
class Description:
    """Facts and findings about a table that matter for a search; ``repr`` and ``print`` show them.

    Parameters
    ----------
    rows : int
        The number of rows that were examined.
    records : int
        The number of records that they stand for.
    columns : tuple of ColumnFacts
        The facts about each column, in the order of the table.
    findings : tuple of Finding
        What matters for a search, the serious findings first.
    notes : tuple of str
        What was decided when the table was read.

    Examples
    --------
    >>> import sges
    >>> sges.inspect({"dose": [0.5, 1.5, 2.5, 1.0], "cured": ["no", "yes", "yes", "no"]})
    4 rows, 2 columns (1 continuous, 1 discrete)
    <BLANKLINE>
    Columns:
      dose   continuous  0.5 to 2.5, mean 1.375, sd 0.854
      cured  discrete    2 levels: no 50%, yes 50%
    <BLANKLINE>
    Worth knowing:
      * The table has only 4 rows.
        Weak relations are missed. Estimate the confidence in each edge with
        sges.confidence(table).
    """

    rows: int
    records: int
    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("columns", "findings", "notes"):  # shown one to a line
            object.__setattr__(self, name, Rows(getattr(self, name)))

    @property
    def serious(self) -> tuple[Finding, ...]:
        """The findings that can change most of a graph."""
        return Rows(finding for finding in self.findings if finding.serious)

    @property
    def size(self) -> str:
        """The numbers of rows and columns, in words."""
        kinds = [column.kind for column in self.columns]
        of_kinds = ", ".join(f"{kinds.count(kind)} {kind}" for kind in Kind if kind in kinds)
        size = f"{self.rows:,} row{'' if self.rows == 1 else 's'}"
        if self.records != self.rows:
            size += f" that represent {self.records:,} records"
        return f"{size}, {len(kinds):,} column{'' if len(kinds) == 1 else 's'} ({of_kinds})"

    def to_dict(self) -> dict[str, Any]:
        """Return the description as JSON values; messages name the options of the command line."""
        return {
            "format": "sges-description",
            "version": 1,
            "rows": self.rows,
            "records": self.records,
            "columns": [column.to_dict() for column in self.columns],
            "findings": [finding.to_dict() for finding in self.findings],
            "notes": [in_shell(note) for note in self.notes],
        }

    def text(self, width: int = WIDTH, *, shell: bool = False) -> str:
        """Return the description as text.

        Parameters
        ----------
        width : int
            The largest number of characters on a line, at least 40.
        shell : bool
            Whether to name options of the command line rather than arguments of Python.

        Returns
        -------
        str
            The size of the table, a line per column, the findings, and the notes.
        """
        width = max(width, MIN_WIDTH)
        lines = [*wrap(self.size, width), "", "Columns:", *_column_lines(self.columns, width)]

        def add(message: str, start: str) -> None:
            text = printable(in_shell(message) if shell else str(message))
            lines.extend(
                wrap(
                    text, width, initial_indent=start, subsequent_indent="    ",
                    break_long_words=False, break_on_hyphens=False,
                ) or [start]
            )  # fmt: skip

        others = tuple(finding for finding in self.findings if not finding.serious)
        for heading, findings in (("Serious:", self.serious), ("Worth knowing:", others)):
            if findings:
                lines += ["", heading]
            for finding in findings:
                add(finding.what, "  * ")
                add(finding.advice, "    ")
        if self.notes:
            lines += ["", "How it was read:"]
        for note in self.notes:
            add(note, "  * ")
        if not self.findings:
            lines += ["", "Nothing unusual was found."]
        return "\n".join(line.rstrip() for line in lines)

    def to_pandas(self) -> Any:  # noqa: ANN401 (pandas has no types)
        """Return a data frame with a row per column of the table, and the topics of findings.

        Returns
        -------
        pandas.DataFrame
            The facts of ``ColumnFacts``, its ``values`` in words, and the ``findings`` about it.
        """
        pandas = need("pandas", "a table of columns")
        rows = []
        for column in self.columns:
            topics = [found.topic for found in self.findings if column.name in found.columns]
            facts = {field.name: getattr(column, field.name) for field in fields(column)[:-1]}
            facts |= {"kind": str(column.kind), "values": column.in_words()}
            rows.append({**facts, "findings": ", ".join(dict.fromkeys(topics))})
        return pandas.DataFrame(rows)

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tool("description_html")(self)


def _column_lines(columns: Sequence[ColumnFacts], width: int) -> Iterator[str]:
    """Yield a line for each of the first columns: its name, its kind, and its values."""
    shown = columns[:MAX_COLUMNS_SHOWN]
    has_holes = any(column.missing for column in shown)
    rows = []
    names = shortened([column.name for column in shown], lambda n: cut(printable(n), width // 3))
    for column, name in zip(shown, names, strict=True):
        cells = [name, str(column.kind)]
        if has_holes:
            cells.append(f"{column.missing:,} missing" if column.missing else "")
        rows.append([*cells, printable(column.in_words())])
    widths = [max(map(display_width, cells)) for cells in zip(*rows, strict=True)][:-1]
    for *first, facts in rows:
        yield from _facts_beside("  " + "  ".join(map(padded, first, widths)) + "  ", facts, width)
    if len(columns) > len(shown):
        yield f"  and {len(columns) - len(shown):,} more columns"


def _facts_beside(start: str, facts: str, width: int) -> Iterator[str]:
    """Yield the facts of a column beside its name, or below it if there is too little room."""
    indent = display_width(start)
    if width - indent < MIN_FACTS_WIDTH:
        yield start
        start, indent = " " * 6, 6
    glued = re.sub(r"(mean|sd) | (?=integers)", r"\1\0", facts)  # not broken between lines
    lines = wrap(
        glued, width - indent, max_lines=MAX_FACTS_LINES, placeholder=" …", break_on_hyphens=False
    )
    for line in lines:
        yield start + line.replace("\0", " ")
        start = " " * indent
