"""The page of the quality experiment: verdicts first, then every number, then what failed.

Each sentence that judges is made from a value of ``quality_facts``.
"""

from collections.abc import Iterable, Sequence
from statistics import median

from studies.peers import quality_words as words
from studies.peers.contract import Peer
from studies.peers.quality_facts import (
    DEFAULT,
    RIVAL,
    Line,
    Results,
    Verdict,
    bic_duel,
    bic_mark,
    is_ours,
    shd_duel,
    shd_mark,
    time_ratio,
    verdicts,
)
from studies.peers.registry import all_peers
from studies.peers.rows import Row
from studies.peers.tables import MISSING, digits, markdown

INTRODUCTION = f"""\
How good are the graphs? Every strategy of ours and the peers of the benchmark, on the same data.
`{DEFAULT}` is what `sges.learn` did when these rows were measured and nothing was chosen (today it
is `auto`, the same search with bounded work); "ours" below is that, and no other.
All programs are told the textbook BIC (penalty 1), as the last table says, and one judge, which is
independent of our scores, computes the BIC of every graph from the raw table. A DAG is judged as
its class."""

RULES = """\
ER graphs are Erdős–Rényi's, SF scale-free. *SHD* is the structural Hamming distance to the true
class, *BIC* that of the graph found minus that of the true graph, in nats: below 0, a better graph
is known to exist. The rules:

* A peer is compared on a setting if it finished all seeds (for the BIC: with graphs that a DAG
  extends). One that did not is not counted as beaten; it is listed below.
* SHD: our median against the lowest median among these peers.
* BIC: the median of the difference seed by seed, against each of these peers; *better* if it is
  above 0.001 against all, *equal* if it is at least −0.001 against all, else *worse*.
* In brackets: the seeds on which ours is better, equal and worse than the best peer named.

The best peer is picked after the fact, on each setting anew."""

MEASURED = """\
    python -m studies.peers run --preset quality    # the rows: studies/results/quality.jsonl
    python -m studies.peers.quality                 # this page, from the rows

[The benchmark's own page](../peers/README.md) says how the data are made, and what each
program is told. Seconds are processor time of the search (`cpu_seconds`), since the machine was
shared with other work; for Tetrad they hold what its virtual machine compiles and collects
meanwhile. The limit of a run is by the clock. A program that ran out of time on one seed is not
tried on the others of that setting, nor on harder data. {facts}"""


def page(results: Results) -> str:
    """Return the whole page."""
    found = verdicts(results)
    parts = [
        "# The quality of the graphs: our strategies and the peers",
        INTRODUCTION,
        words.tally(found),
        summary(found),
        RULES,
        "## Time, beside XGES's extended search",
        *duration(results, found),
        "## Where ours is not the best",
        *words.losses(found),
        "## Program by program",
        SCOREBOARD,
        scoreboard(results),
        "![Distance to the truth of every program on every setting](quality.svg)",
        "![Score of every program on every setting, beside the true graph](quality-bic.svg)",
        "## Setting by setting",
        SETTINGS,
        *(part for verdict in found for part in setting(results, verdict)),
        "## What did not finish",
        *unfinished(results),
        "## How it was measured",
        MEASURED.format(facts=circumstances(results)),
        versions(results),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def question(results: Results) -> str:
    """Return what is asked, in a line of the index."""
    seeds = min(count for _, count in results.preset.problems)
    return (
        "the graphs of every strategy of ours and of the programs users have today: "
        f"{len(results.settings)} settings, {seeds} seeds each"
    )


def outcome(results: Results) -> str:
    """Return what came out, in a line of the index."""
    found = verdicts(results)
    made = "Made by `python -m studies.peers.quality`."
    return " ".join([words.tally(found), words.hurry(results, found), made])


def summary(found: Sequence[Verdict]) -> str:
    """Return our default beside the best peer, a line per setting."""
    head = ["setting", "peers compared", "SHD, ours", "best peer", "ours is"]
    head += ["BIC, ours", "best peer", "ours is"]
    return markdown(head, map(_summary_line, found))


def _summary_line(verdict: Verdict) -> list[str]:
    ours, closest, highest = verdict.ours, verdict.closest, verdict.highest
    compared = sum(line.finished for line in verdict.peers)
    return [
        words.title(verdict.spec),
        f"{compared} of {len(verdict.peers)}",
        words.shd_of(ours),
        words.best(closest, words.shd_of),
        words.marked(verdict.shd, shd_duel(ours, closest[0]) if ours and closest else None),
        words.bic_of(ours),
        words.best(highest, words.bic_of),
        words.marked(verdict.bic, bic_duel(ours, highest[0]) if ours and highest else None),
    ]


def duration(results: Results, found: Sequence[Verdict]) -> list[str]:
    """Return the seconds of our default and of its rival on every setting that the rival takes."""
    body = []
    for verdict in found:
        rival = results.lines.get((verdict.name, RIVAL))
        if rival is not None and rival.takes_the_data:
            ratio = None if verdict.ours is None else time_ratio(verdict.ours, rival)
            seconds = [_seconds(verdict.ours), _seconds(rival)]
            body.append(
                [words.title(verdict.spec), *seconds, words.multiple(ratio) if ratio else MISSING]
            )
    head = ["setting", "ours, s", f"`{RIVAL}`, s", f"`{RIVAL}` / ours"]
    table = markdown(head, body) if body else ""
    return [words.hurry(results, found), table, words.no_rival(results, found)]


def _seconds(line: Line | None) -> str:
    found = None if line is None else line.spread("cpu_seconds")
    if line is None or found is None:
        return words.why_not(line)
    part = "" if line.finished else f" ({len(line.done)} of {line.seeds} seeds)"
    return f"{digits(found.mid)} [{digits(found.low)}, {digits(found.high)}]{part}"


SCOREBOARD = """\
On how many settings our default is better, equal and worse than each program, by the rules above,
on the settings that the program finished; and the program's time as a multiple of ours, seed by
seed: the median over settings, the least and the most. Our other strategies stand here too."""


def scoreboard(results: Results) -> str:
    """Return every other program beside our default."""
    body = [_board_line(results, name) for name in results.programs if name != DEFAULT]
    head = ["program", "settings finished", "SHD", "BIC", "time"]
    return markdown(head, body)


def _board_line(results: Results, program: str) -> list[str]:
    pairs = [
        (results.lines.get((spec.name, DEFAULT)), line)
        for spec in results.settings
        if (line := results.lines.get((spec.name, program))) and line.takes_the_data
    ]
    ratios = [r for ours, line in pairs if ours and (r := time_ratio(ours, line)) is not None]
    return [
        f"`{program}`",
        f"{sum(line.finished for _, line in pairs)} of {len(pairs)}",
        words.counts([shd_mark(ours, [line]) for ours, line in pairs]),
        words.counts([bic_mark(ours, [line]) for ours, line in pairs]),
        words.span(ratios),
    ]


SETTINGS = """\
Medians, and in brackets the quartiles, over the seeds that the program finished; lowest SHD first,
programs that did not finish all seeds last. *Below* is the number of graphs that score below the
true one. All of it, with more digits: [quality.csv](quality.csv)."""


def setting(results: Results, verdict: Verdict) -> list[str]:
    """Return one setting in full: its heading and its table."""
    lines = sorted((line for line in results.of(verdict.name) if line.done), key=_rank)
    head = ["program", "seeds", "SHD", "skeleton F1", "arrow F1", "BIC − true", "below", "CPU s"]
    body = map(_setting_line, lines)
    table = markdown(head, body) if lines else "No program has finished a run yet."
    return [f"### {words.title(verdict.spec)}", table]


def _rank(line: Line) -> tuple[bool, float, float, str]:
    shd, bic = line.spread("shd"), line.bic
    distance = shd.mid if shd else float("inf")
    return not line.finished, distance, -bic.mid if bic else float("inf"), line.program


def _setting_line(line: Line) -> list[str]:
    name = f"`{line.program}`"
    return [
        f"**{name}**" if line.program == DEFAULT else name,
        str(len(line.done)) if line.finished else f"{len(line.done)} of {line.seeds}",
        words.spread(line.spread("shd"), words.short),
        words.spread(line.spread("skeleton_f1"), words.share),
        words.spread(line.spread("arrow_f1"), words.share),
        words.spread(line.bic, words.signed),
        f"{line.below_truth} of {len(line.scored)}",
        words.spread(line.spread("cpu_seconds"), digits),
    ]


def unfinished(results: Results) -> list[str]:
    """Return who has no graph where and why, graphs without a score, and who took no part."""
    places: dict[tuple[str, str], list[str]] = {}
    for program in results.programs:
        for spec in results.settings:
            for reason, count in _missing(results, program, spec.name):
                places.setdefault((program, reason), []).append(f"{spec.name} ({count})")
    body = [[f"`{program}`", why, ", ".join(where)] for (program, why), where in places.items()]
    table = markdown(["program", "why", "where (runs)"], body, words=3)
    return [
        table if body else "Every program finished every run on the data that it takes.",
        words.crowding(results),
        words.unscored(results),
        words.kinds(results),
        _absent(results),
    ]


def _missing(results: Results, program: str, name: str) -> list[tuple[str, int]]:
    """Return the reasons why a program has no graphs on a setting, and for how many seeds."""
    seeds = {spec.name: count for spec, count in results.preset.problems}[name]
    line = results.lines.get((name, program))
    if line is None:
        return [("not measured", seeds)]
    if not line.takes_the_data:
        return []
    left = seeds - len(line.rows)
    return [*line.reasons, *([("not measured", left)] if left else [])]


def _absent(results: Results) -> str:
    """Say which programs of the benchmark have no rows."""
    absent = [peer.name for peer in all_peers() if peer.name not in results.programs]
    if not absent:
        return ""
    return f"Programs of the benchmark that took no part in this one: {words.listed(absent)}."


def circumstances(results: Results) -> str:
    """Say on what and when it was measured, and how long a run might take."""
    rows = results.rows
    dates = sorted({row["date"] for row in rows})
    span = dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    machines = "; ".join(sorted({row["machine"] for row in rows}))
    spent = sum(row["cpu_seconds"] for row in rows if row["failed"] is None)
    return (
        f"Measured {span} on {machines}; at most {_limits(rows)} per run. The finished runs took "
        f"{spent / 60:,.0f} minutes of processor time in all; {_shares(results)}."
    )


def _shares(results: Results) -> str:
    """Say how much of the processor the runs had, ours and the peers', by median."""
    parts = []
    for who, ours in (("ours", True), ("the peers'", False)):
        lines = [x for x in results.lines.values() if is_ours(x.program) == ours]
        shares = [share for line in lines for share in line.shares]
        parts += [f"{who} {median(shares):.0%}"] if shares else []
    return "by median they had this share of a core: " + (", ".join(parts) or MISSING)


def _limits(rows: Sequence[Row]) -> str:
    """Return the limit of all runs, or those of each group of programs if they differ."""
    by_limit: dict[float, set[str]] = {}
    for row in rows:
        by_limit.setdefault(row["limit"], set()).add(row["peer"])
    if len(by_limit) == 1:
        return f"{next(iter(by_limit)):g} s"
    return " or ".join(
        f"{limit:g} s ({words.listed(sorted(names))})" for limit, names in sorted(by_limit.items())
    )


def versions(results: Results) -> str:
    """Return what was run: methods, versions, and how each program is told the penalty."""
    known = {peer.name: peer for peer in all_peers()}
    body = [_version_line(results.rows, name, known.get(name)) for name in results.programs]
    return markdown(["program", "method", "version", "penalty"], body, words=4)


def _version_line(rows: Iterable[Row], name: str, peer: Peer | None) -> list[str]:
    found = sorted({row["version"] for row in rows if row["peer"] == name})
    method, penalty = (MISSING, MISSING) if peer is None else (peer.method, peer.penalty)
    told = " (knows the truth's)" if is_ours(name) and "true bound" in method else ""
    return [f"`{name}`", method + told, ", ".join(found), penalty]
