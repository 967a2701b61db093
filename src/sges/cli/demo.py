"""``sges demo``: the bundled example, from table to picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sges.cli.screen import AsJson, remark

if TYPE_CHECKING:
    from sges.examples import Example
    from sges.result import Result

Picture = Annotated[
    Path, typer.Option(metavar="FILE", help="Where the picture goes: .svg, .png or .pdf.")
]
Name = Annotated[str, typer.Option(metavar="NAME", help="The example: greenhouse or asia.")]


def demo(
    *,
    example: Name = "greenhouse",
    picture: Picture = Path("demo.svg"),
    as_json: AsJson = False,
) -> None:
    """Learn a bundled example, print what was found, and draw it."""
    from sges.cli.learn import show
    from sges.examples import load
    from sges.learning import learn
    from sges.properties import MaxParents

    chosen = load(example)
    result = learn(chosen, assume=MaxParents(3))
    result.plot(picture)
    show(result, as_json=as_json)
    remark(against_truth(chosen, result))
    remark(f"the picture is in {picture}")


def against_truth(example: "Example", result: "Result") -> str:
    """Return in one line how the result compares with the network behind the data."""
    from sges.metrics import compare

    found = compare(example.truth, result.cpdag)
    if found.same_class:
        return "this is exactly the class of the network that the data were sampled from"
    wrong = found.extra + found.wrong_type
    right = found.true_edges - found.missing
    return (
        f"of the {found.true_edges} edges of the network that the data were sampled from, "
        f"{right} were found, and {wrong} wrong ones"
    )
