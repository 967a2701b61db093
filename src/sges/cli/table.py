"""The options on how a table is read, and the reading."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from sges.errors import InvalidArgument

if TYPE_CHECKING:
    from sges.data import Dataset

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


def read(
    source: str,
    delimiter: str | None,
    decimal: str,
    exclude: list[str] | None,
    **options: Any,  # noqa: ANN401 (those of Dataset.of)
) -> "Dataset":
    """Return the dataset of a file or of standard input."""
    from sges.data import Dataset

    return Dataset.of(source, delimiter=delimiter, decimal=decimal, exclude=exclude, **options)
