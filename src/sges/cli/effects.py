"""``sges effect`` and ``sges effects``: the possible causal effects in a class."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sges.cli.graphs import read_confidence
from sges.cli.options import argument, option, reading_arguments, takes
from sges.cli.terminal import (
    grid,
    print_json,
    print_sentence,
    print_table,
    remark,
    warnings_as_remarks,
    watching,
)
from sges.display import label_of_level, printable, span
from sges.errors import DataError, InvalidArgument, suggestion

if TYPE_CHECKING:
    from sges.tools.effects import DiscreteEffect, Effects, LinearEffect

DISCRETE = "Assumed: the graph is correct, no hidden common causes, no selection bias"
LINEAR = f"{DISCRETE}, linear relations"


@takes(
    treatment=argument("X", "The variable that is set."),
    outcome=argument("Y", "The variable that responds."),
    adjustment=option(
        "HOW",
        "parents (adjust for the parents of X) or optimal (for the set with the smallest standard "
        "errors; continuous data only).",
    ),
    confidence=option(
        "FILE",
        "confidence.json of sges confidence: adds an interval over the graphs of its replicates.",
    ),
)
def effect(
    *,
    graph: str,
    table: str,
    treatment: str,
    outcome: str,
    adjustment: str = "parents",
    confidence: Path | None = None,
    as_json: bool = False,
    **reading: Any,  # noqa: ANN401
) -> None:
    """Estimate the effect of X on Y: one value for each set of parents that X may have (IDA).

    For continuous data it is the change in Y per unit of X, for discrete data the distribution of
    Y when X is set.
    """
    from sges.data.reading import Reading
    from sges.data.sources import statistics_of
    from sges.tools.effects import LinearEffect
    from sges.tools.effects import effect as estimate
    from sges.tools.export import read_graph

    if graph == table == "-":
        raise InvalidArgument("standard input can be the graph or the table, not both")
    with warnings_as_remarks():
        known = read_graph(graph)
        data = statistics_of(table, Reading(**reading_arguments(**reading)))
        result = estimate(known, treatment, outcome, data, adjustment=adjustment)  # type: ignore[arg-type]
        over = None
        if confidence is not None:
            over = read_confidence(confidence).effect(treatment, outcome, data)
    if as_json:
        document = {"format": "sges-effect", "version": 1, **result.to_dict()}
        if over is not None:
            document["over_replicates"] = over.to_dict()
        print_json(document)
        return
    if isinstance(result, LinearEffect):
        _print_linear(result)
    else:
        _print_discrete(result)
    if over is not None:
        what = "values" if isinstance(result, LinearEffect) else "changes of probability"
        print_sentence(
            f"Over {len(over.minima)} replicate{'' if len(over.minima) == 1 else 's'}: {what} "
            f"{span(over.interval(), 4)} in 95% of them; all non-zero in {over.share_nonzero:.0%}"
        )


@takes(
    on=option("NAME", "The variable that responds: rank the effects of all others on it."),
    of=option("NAME", "The variable that is set: rank its effects on all others."),
    graph=option("FILE", "A graph, such as graph.json of sges learn, instead of learning one."),
)
def effects(
    *,
    table: str,
    on: str | None = None,
    of: str | None = None,
    graph: Path | None = None,
    knowledge: Path | None = None,
    as_json: bool = False,
    **reading: Any,  # noqa: ANN401
) -> None:
    """Rank the effects on one variable (--on), or of one (--of), by their lower bounds.

    Learns the class from TABLE as sges learn does, or takes it from --graph. An effect has one
    value for each set of parents that its cause may have (IDA), and the lower bound is the
    smallest absolute value. For continuous data a value is per unit of the cause; for discrete
    data it is the largest change in the probability of any event when the cause is set to another
    level.
    """
    from sges.data.reading import Reading
    from sges.data.sources import statistics_of
    from sges.learning import learn
    from sges.tools.effects import effects as estimate
    from sges.tools.export import read_graph

    names = list(filter(None, (on, of)))
    if len(names) != 1:
        raise InvalidArgument("give exactly one of --on and --of")
    (name,) = names
    if graph is not None and knowledge is not None:
        raise InvalidArgument("--knowledge is for learning a graph; leave it out with --graph")
    with warnings_as_remarks(), watching(f"reading {table}") as watcher:
        data = statistics_of(table, Reading(**reading_arguments(**reading)))
        if name not in data.names:
            hint = suggestion(name, data.names, "the columns")
            raise DataError(f"there is no column {name!r}; {hint}")
        if graph is not None:
            known = read_graph(graph)
        else:
            result = learn(data, knowledge=knowledge, progress=watcher.callback)
            known = result.cpdag
            if not result.complete:
                remark(f"not complete ({result.stopped}): this is the best graph found so far")
        ranked = estimate(known, data, of=of, on=on)
    if as_json:
        document = [found.to_dict() for found in ranked]
        print_json(
            {"format": "sges-effects", "version": 1, "on": on, "of": of, "effects": document}
        )
    else:
        _print_ranking(ranked, name, is_outcome=of is None)


def _print_ranking(ranked: "Effects", name: str, *, is_outcome: bool) -> None:
    from sges.tools.effects import LinearEffect

    which = f"{'on' if is_outcome else 'of'} {printable(name)}"
    print_sentence(f"Effects {which}, the largest lower bound first")
    is_linear = not ranked or isinstance(ranked[0], LinearEffect)
    linear = ("", "at least", "possible values", "standard error", "95% interval")
    header = linear if is_linear else ("", "at least", "possible changes")
    table = grid("left", "right", *["left"] * (len(header) - 2), header=header)
    for result in ranked:
        variable = result.treatment if is_outcome else result.outcome
        if isinstance(result, LinearEffect):
            cells = [
                f"{result.lower_bound:.4g}",
                span(result.values, 4),
                span(result.standard_errors, 2),
                span(result.interval(), 4),
            ]
        else:
            cells = [f"{result.lower_bound:.3g}", span(result.changes, 3)]
        table.add_row(printable(variable), *cells)
    print_table(table)
    if is_linear:
        print_sentence(f"{LINEAR}.")
    else:
        print_sentence(
            "A change is the largest difference in the probability of an event between two "
            "settings of the cause."
        )
        print_sentence(f"{DISCRETE}.")


def _print_linear(result: "LinearEffect") -> None:
    treatment, sets = printable(result.treatment), len(result.values)
    note = f" ({sets} sets of parents)" if sets > 1 else ""
    pair = f"{treatment} on {printable(result.outcome)}"
    print_sentence(f"{pair}: {span(result.values, 4)}{note}, per unit of {treatment}")
    table = grid("right", "right", "left", header=("value", "standard error", "adjusted for"))
    rows = zip(result.values, result.standard_errors, result.adjustment, strict=True)
    for value, error, names in rows:
        table.add_row(f"{value:.4g}", f"{error:.2g}", _listed(names) or "-")
    print_table(table)
    print_sentence(f"95% interval: {span(result.interval(), 4)}")
    print_sentence(f"{LINEAR}.")


def _print_discrete(result: "DiscreteEffect") -> None:
    sets = len(result.distributions)
    note = f" ({sets} sets of parents)" if sets > 1 else ""
    outcome, treatment = printable(result.outcome), printable(result.treatment)
    print_sentence(f"p({outcome}) when {treatment} is set{note}")
    rows, columns = result.levels
    table = grid("left", *["left" for _ in columns], header=("", *map(label_of_level, columns)))
    for level, low, high in zip(rows, result.minimum, result.maximum, strict=True):
        cells = [span(pair, 3) for pair in zip(low.tolist(), high.tolist(), strict=True)]
        table.add_row(label_of_level(level), *cells)
    print_table(table)
    for names in result.adjustment:
        print_sentence(f"adjusted for: {_listed(names) or 'nothing'}")
    print_sentence(f"{DISCRETE}.")


def _listed(names: "tuple[str, ...]") -> str:
    return ", ".join(map(printable, names))
