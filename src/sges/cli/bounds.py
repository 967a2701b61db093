"""The options that assume something of the truth, one per property."""

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer

from sges.errors import InvalidArgument, InvalidProperty

if TYPE_CHECKING:
    from sges.properties import AtMost

PANEL = "What you assume of the truth (one at most)"


def _bound(what: str) -> object:
    return typer.Option(metavar="K", help=what, rich_help_panel=PANEL, show_default=False)


MaxParentsBound: TypeAlias = Annotated[int | None, _bound("No variable has more than K parents.")]
MaxCliqueBound: TypeAlias = Annotated[
    int | None, _bound("No more than K variables are pairwise adjacent.")
]
MaxVWidthBound: TypeAlias = Annotated[
    int | None, _bound("Two variables not adjacent share no clique of more than K children.")
]
MaxTreewidthBound: TypeAlias = Annotated[
    int | None, _bound("The moral graph has a treewidth of K at most.")
]
MaxVStructuresBound: TypeAlias = Annotated[int | None, _bound("There are at most K v-structures.")]


def options() -> dict[str, "type[AtMost]"]:
    """Return the property behind each option."""
    from sges import properties

    return {
        "--max-parents": properties.MaxParents,
        "--max-clique": properties.MaxClique,
        "--v-width": properties.MaxVWidth,
        "--treewidth": properties.MaxTreewidth,
        "--v-structures": properties.MaxVStructures,
    }


def assumed(*, auto: bool = False, **given: int | None) -> "AtMost | Literal['auto'] | None":
    """Return the property that the options stand for, or None; refuse two, and bad bounds."""
    found = {f"--{word.replace('_', '-')}": k for word, k in given.items() if k is not None}
    names = [*found, *(["--auto-bound"] if auto else [])]
    if len(names) > 1:
        raise InvalidArgument(f"{' and '.join(names)} were both given; the search takes one bound")
    if auto:
        return "auto"
    for option, k in found.items():
        kind = options()[option]
        try:
            return kind(k)
        except InvalidProperty as error:
            raise InvalidArgument(f"{option} {k}: {str(error).partition(': ')[2]}") from None
    return None
