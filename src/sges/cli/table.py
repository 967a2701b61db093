"""The options on how a table is read, and the reading."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from sges.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

KINDS = ("continuous", "discrete")
PANEL = "How the table is read"

KindOf: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN=KIND",
        help="Take a column as continuous or discrete; a kind alone is for all. Repeatable.",
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="Leave a column out. Repeatable.", rich_help_panel=PANEL,
        show_default=False,
    ),
]  # fmt: skip
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="What separates fields.", rich_help_panel=PANEL),
]
Decimal: TypeAlias = Annotated[
    str,
    typer.Option(metavar="CHARACTER", help="What marks decimals.", rich_help_panel=PANEL),
]


def parsed_kinds(given: list[str] | None) -> dict[str, str] | str | None:
    """Return kinds as the library takes them: per column, one for all, or none."""
    found: dict[str, str] = {}
    for entry in given or ():
        if entry in KINDS and len(given or ()) == 1:
            return entry
        column, equals, kind = entry.rpartition("=")
        if not equals or kind not in KINDS:
            raise InvalidArgument(
                f"--kinds {entry!r}: give COLUMN=KIND, the kind being continuous or discrete"
            )
        found[column] = kind
    return found or None


def read(source: str, delimiter: str | None, decimal: str, exclude: list[str] | None) -> Any:  # noqa: ANN401
    """Return the table of a file or of standard input, without the columns left out."""
    from sges.data import read_table

    _refuse_long_marks(delimiter, decimal)
    table = read_table(source, delimiter=delimiter, decimal=decimal)
    return _without(table, exclude or [])


def _refuse_long_marks(delimiter: str | None, decimal: str) -> None:
    for option, mark in (("--delimiter", delimiter), ("--decimal", decimal)):
        if mark is not None and len(mark) != 1:
            raise InvalidArgument(f"{option} {mark!r}: it must be one character")


def _without(table: "pa.Table", names: list[str]) -> "pa.Table":
    from sges.data.reading import unknown_column

    for name in names:
        if name not in table.column_names:
            raise unknown_column("--exclude", name, table.column_names)
    kept = [i for i, name in enumerate(table.column_names) if name not in names]
    return table.select(kept)
